import { beforeAll, describe, expect, test } from "vitest";
import { clientOf } from "../http/service.ts";
import { code, isOver, openStage, SOON, UNKNOWN, type Stage } from "./stage.ts";

type Person = Awaited<ReturnType<Stage["person"]>>;
type Call = ReturnType<typeof clientOf>;

let stage: Stage;
let owner: Call;
let key: Call;
const people = {} as Record<"builder" | "approver" | "viewer" | "ann", Person>;
beforeAll(async () => {
  stage = await openStage({
    // asks with the terms that it is started with
    asks: { run: async (ctx, { terms }) => ({ said: await ctx.awaitApproval("boss", terms) }) },
    two: {
      run: async (ctx) =>
        Promise.all([ctx.awaitApproval("first", { title: "1" }), ctx.awaitApproval("second", { title: "2" })]),
    },
  });
  [owner, key] = [stage.home.person, stage.home.key];
  for (const role of ["builder", "approver", "viewer"] as const) people[role] = await stage.person(role);
  people.ann = await stage.person("approver", "Ann");
});

const listOf = async (run: string, by = owner): Promise<any[]> => (await by("GET", `/runs/${run}/approvals`)).body.data;

/** A run that waits for an approval, with what it asks. */
async function asking(terms: object = {}, { by = owner, envelope = {} } = {}) {
  const workflow = await stage.register("asks", { envelope });
  const run = (await stage.made(by("POST", `/${workflow.id}/runs`, { args: { terms: { title: "Go?", ...terms } } })))
    .id;
  await expect.poll(async () => (await listOf(run)).length, SOON).toBe(1);
  const [approval] = await listOf(run);
  return { run, workflow, approval, id: approval.id as string };
}
const decide = (id: string, body: unknown, by = owner) => by("POST", `/approvals/${id}/decision`, body);
const decided = async (run: string) => (await stage.events(run)).filter(({ type }) => type === "ApprovalDecided");

const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

describe("an approval", () => {
  test("is shown with what it asks, decided, and goes on in the run", async () => {
    const form = { type: "object", properties: { amount: { type: "integer" } }, required: ["amount"] };
    const { run, workflow, approval, id } = await asking({ body: "Really?", form });
    const pending = {
      id,
      run_id: run,
      workflow_id: workflow.id,
      name: "boss",
      title: "Go?",
      body: "Really?",
      form,
      assignees: [],
      required: 1,
      status: "pending",
      votes: [],
      decision: null,
      comment: null,
      data: null,
      decided_by: null,
      decided_at: null,
      expires_at: time,
      created_at: time,
    };
    expect(approval).toEqual(pending);
    const { status, body } = await decide(id, { decision: "approve", data: { amount: 5 }, comment: "fine \u0000" });
    const { run_status, ...record } = body;
    const by = { type: "person", id: (await stage.home.api("GET", "/auth/me")).body.user.id, name: expect.any(String) };
    const vote = { by, decision: "approve", comment: "fine \u0000", data: { amount: 5 } };
    expect([status, record]).toEqual([
      200,
      {
        ...pending,
        status: "approved",
        votes: [{ ...vote, at: time }],
        decision: "approve",
        comment: "fine \u0000",
        data: { amount: 5 },
        decided_by: by,
        decided_at: record.votes[0].at,
      },
    ]);
    expect(["running", "completed"]).toContain(run_status);
    const { result } = await stage.until(run, isOver);
    expect(result.said).toMatchObject({ approved: true, data: { amount: 5 }, approval_id: id });
    expect(await listOf(run, key)).toEqual([record]);
  });

  test("that is rejected lets the run go its other way", async () => {
    const { run, id } = await asking({ form: { type: "object", required: ["x"] } });
    expect((await decide(id, { approved: false })).body).toMatchObject({ status: "rejected", decision: "reject" });
    expect((await stage.until(run, isOver)).result.said.approved).toBe(false);
  });

  test("is one of several, each decided by its own id", async () => {
    const workflow = await stage.register("two");
    const run = await stage.start(workflow);
    await expect.poll(async () => (await listOf(run)).length, SOON).toBe(2);
    const [first, second] = await listOf(run);
    expect([first.name, second.name]).toEqual(["first", "second"]);
    await stage.made(decide(second.id, { decision: "reject" }));
    expect((await listOf(run)).map(({ status }) => status)).toEqual(["pending", "rejected"]);
    await stage.made(decide(first.id, { decision: "approve" }));
    const { result } = await stage.until(run, isOver);
    expect(result.map(({ approved }: any) => approved)).toEqual([true, false]);
  });
});

describe("a decision", () => {
  test.each<[string, unknown]>([
    ["nothing", {}],
    ["another word", { decision: "maybe" }],
    ["two that differ", { decision: "approve", approved: false }],
    ["a number", { approved: 1 }],
    ["a list", []],
    ["a comment that is none", { decision: "approve", comment: 5 }],
    ["a comment that is too long", { decision: "approve", comment: "x".repeat(4_001) }],
  ])("is not %s", async (_, body) => {
    const { run, id } = await asking();
    const answer = await decide(id, body);
    expect(answer.status).toBe(400);
    expect(answer.body.error.message).toMatch(/\S/);
    expect(await decided(run)).toEqual([]);
  });

  test("brings data that fit the form", async () => {
    const form = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };
    const { run, id } = await asking({ form });
    for (const [data, param] of [
      [undefined, "/data/n"],
      [{ n: "1" }, "/data/n"],
      ["text", "/data"],
    ] as const) {
      const { status, body } = await decide(id, { decision: "approve", data });
      expect([status, body.error.code, body.error.param]).toEqual([400, "invalid_data", param]);
    }
    const long = await decide(id, { decision: "approve", data: { n: 1, x: "x".repeat(70_000) } });
    expect(code(long)).toEqual([400, "invalid_data"]);
    expect(await decided(run)).toEqual([]);
    expect((await decide(id, { decision: "approve", data: { n: 1 } })).status).toBe(200);
  });

  test("is the same once more, and no other after it", async () => {
    const { run, id } = await asking();
    const first = await decide(id, { decision: "approve", comment: "one" });
    await stage.until(run, isOver);
    const again = await decide(id, { approved: true, comment: "two" });
    expect([again.status, again.body]).toEqual([200, { ...first.body, run_status: "completed" }]);
    for (const answer of [await decide(id, { decision: "reject" }), await decide(id, { decision: "approve" }, key)])
      expect(code(answer)).toEqual([409, "approval_not_pending"]);
    expect((await decided(run)).length).toBe(1);
  });

  test("is one, however many race", async () => {
    const { run, id } = await asking();
    const callers = [owner, key, people.builder.call, people.approver.call, people.ann.call];
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, n) =>
        decide(id, { decision: n % 2 ? "approve" : "reject" }, callers[n % callers.length]),
      ),
    );
    const [event] = await decided(run);
    expect((await decided(run)).length).toBe(1);
    const { decision, by } = event!.data as any;
    for (const { status, body } of answers)
      if (status === 200) expect([body.decision, body.decided_by.id]).toEqual([decision, by.id]);
      else expect([status, body.error.code]).toEqual([409, "approval_not_pending"]);
    // of ten each, those of one caller that say the same
    expect(answers.filter(({ status }) => status === 200).length).toBe(5);
  });

  test("comes too late after the run was cancelled, and after the approval has expired", async () => {
    const cancelled = await asking();
    await stage.made(owner("POST", `/runs/${cancelled.run}/cancel`));
    expect((await listOf(cancelled.run))[0].status).toBe("cancelled");
    const expired = await asking({ expires_in_ms: 300 });
    const { result } = await stage.until(expired.run, isOver);
    expect(result.said).toMatchObject({ approved: false, status: "expired" });
    expect((await listOf(expired.run))[0]).toMatchObject({ status: "expired", decided_by: null });
    for (const { id, run } of [cancelled, expired]) {
      expect(code(await decide(id, { decision: "approve" }))).toEqual([409, "approval_not_pending"]);
      expect(await decided(run)).toEqual([]);
    }
  });
});

describe("those who may decide", () => {
  const refused = async (id: string, by: Call) =>
    expect(code(await decide(id, { decision: "approve" }, by))).toEqual([403, "approver_not_allowed"]);
  const allowed = async (id: string, by: Call) =>
    expect(code(await decide(id, { decision: "approve" }, by))).toEqual([200, undefined]);

  test("are approvers and more", async () => {
    for (const role of ["approver", "builder"] as const) await allowed((await asking()).id, people[role].call);
    await refused((await asking()).id, people.viewer.call);
  });

  test("are those that it was given to: by id, by e-mail address, by role", async () => {
    const { ann, approver, builder } = people;
    for (const person of [ann.user_id, ann.email, ann.email.toUpperCase()]) {
      const { id } = await asking({ assignees: [{ person: "else" }, { person }] });
      for (const by of [approver, builder]) await refused(id, by.call);
      await refused(id, owner);
      await allowed(id, ann.call);
    }
    const byRole = await asking({ assignees: [{ role: "builder" }] });
    await refused(byRole.id, ann.call);
    await allowed(byRole.id, builder.call);
    const byGroup = await asking({ assignees: [{ group: "finance" }] });
    for (const by of [owner, ann.call, builder.call]) await refused(byGroup.id, by);
    const toViewer = await asking({ assignees: [{ person: people.viewer.user_id }] });
    await refused(toViewer.id, people.viewer.call);
  });

  test("are keys where the terms say so", async () => {
    await allowed((await asking()).id, key);
    await refused((await asking({ api_key_may_decide: false })).id, key);
    await refused((await asking({}, { envelope: { approvals: { allow_api_key: false } } })).id, key);
  });

  test("are not those who have started the run, where the terms say so", async () => {
    const own = await asking({ self_approval: false });
    await refused(own.id, owner);
    await allowed(own.id, people.approver.call);
    const byKey = await asking({ self_approval: false }, { by: key });
    await refused(byKey.id, key);
    await allowed(byKey.id, owner);
  });

  test("are of the organization, and of the project", async () => {
    const other = await stage.join("Other");
    const { id, run } = await asking();
    const unknown = await decide(UNKNOWN, { decision: "approve" });
    expect(code(unknown)).toEqual([404, "approval_not_found"]);
    for (const answer of [
      await decide(id, { decision: "approve" }, other.person),
      await decide(id, { decision: "approve" }, other.key),
      await decide("nonsense", { decision: "approve" }),
      await decide("%00", { decision: "approve" }),
    ])
      expect([answer.status, answer.text]).toEqual([404, unknown.text]);
    const [mine, theirs] = [await stage.project("Mine"), await stage.project("Theirs")];
    const workflow = await stage.register("asks", { project_id: mine.id });
    const within = await stage.start(workflow, { terms: { title: "x" } });
    await expect.poll(async () => (await listOf(within)).length, SOON).toBe(1);
    const [{ id: narrowly }] = (await listOf(within)) as [{ id: string }];
    expect((await decide(narrowly, { decision: "approve" }, theirs.key)).text).toBe(unknown.text);
    await allowed(narrowly, mine.key);
    expect((await decided(run)).length).toBe(0);
  });
});

describe("the inbox", () => {
  test("has what a person may decide, the oldest first", async () => {
    const { ann, approver, viewer } = people;
    const first = await asking({ assignees: [{ person: ann.email }] });
    const second = await asking({ assignees: [{ role: "approver" }, { person: "\u0000%" }] });
    const third = await asking({ assignees: [{ person: approver.user_id }] });
    const own = await asking({ self_approval: false }, { by: ann.call });
    const closed = await asking({ assignees: [{ person: ann.user_id }] });
    await stage.made(decide(closed.id, { decision: "approve" }, ann.call));
    const ids = [first, second, third, own, closed].map(({ id }) => id);
    const inbox = async (by: Call, query = "?status=pending&mine=true&limit=500") => {
      const { status, body } = await by("GET", `/approvals${query}`);
      expect(status).toBe(200);
      return body.data.map(({ id }: { id: string }) => id).filter((id: string) => ids.includes(id));
    };
    expect(await inbox(ann.call)).toEqual([first.id, second.id]);
    expect(await inbox(approver.call)).toEqual([second.id, third.id, own.id]);
    expect(await inbox(viewer.call)).toEqual([]);
    expect(await inbox(owner, "?status=pending&limit=500")).toEqual([first.id, second.id, third.id, own.id]);
    expect(await inbox(owner, "?status=approved&limit=500")).toEqual([closed.id]);
    const page = (await owner("GET", "/approvals?limit=1&offset=1")).body;
    expect([page.data.length, page.limit, page.offset, page.total > 4]).toEqual([1, 1, 1, true]);
    expect((await owner("GET", "/approvals?status=open")).body.error.param).toBe("status");
  });

  test("is a person's, and of one organization", async () => {
    expect(code(await key("GET", "/approvals"))).toEqual([403, "session_required"]);
    const other = await stage.join("Elsewhere");
    expect((await other.person("GET", "/approvals")).body).toEqual({ data: [], total: 0, limit: 50, offset: 0 });
  });
});
