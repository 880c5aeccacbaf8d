import { beforeAll, describe, expect, test } from "vitest";
import { clientOf } from "../http/service.ts";
import { SOON, UNKNOWN, code, isOver, openFunctions, type Functions, type Tenant } from "./harness.ts";

type Person = Awaited<ReturnType<Tenant["member"]>>;
type Call = ReturnType<typeof clientOf>;

let stage: Functions;
let home: Tenant;
let owner: Call;
let key: Call;
const people = {} as Record<"builder" | "approver" | "viewer" | "ann", Person>;
beforeAll(async () => {
  stage = await openFunctions({
    // the arguments of the run are the options of the approval
    asks: { run: async (ctx, { terms }) => ({ said: await ctx.awaitApproval("boss", terms) }) },
    two: {
      run: async (ctx) =>
        Promise.all([ctx.awaitApproval("first", { title: "1" }), ctx.awaitApproval("second", { title: "2" })]),
    },
  });
  ({ home } = stage);
  [owner, key] = [home.owner, home.key];
  for (const role of ["builder", "approver", "viewer"] as const) people[role] = await home.member(role);
  people.ann = await home.member("approver", "Ann");
});

const listOf = async (run: string, by = owner): Promise<any[]> =>
  (await by("GET", `/workflows/runs/${run}/approvals`)).body.data;

/** Starts a run and waits until it asks for an approval. */
async function startAsking(terms: object = {}, { by = owner, envelope = {} } = {}) {
  const workflow = await stage.register("asks", { envelope });
  const run = (
    await home.made(by("POST", `/workflows/${workflow.id}/runs`, { args: { terms: { title: "Go?", ...terms } } }))
  ).id;
  await expect.poll(async () => (await listOf(run)).length, SOON).toBe(1);
  const [approval] = await listOf(run);
  return { run, workflow, approval, id: approval.id as string };
}
const decide = (id: string, body: unknown, by = owner) =>
  by("POST", `/workflows/approvals/${id}/decision`, typeof body === "string" ? { decision: body } : body);
const decided = async (run: string) => (await stage.events(run)).filter(({ type }) => type === "ApprovalDecided");

const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

test("approvals are listed by who decided them", async () => {
  const [first, second] = [await startAsking(), await startAsking()];
  await home.made(decide(first.id, "approve", people.ann.call));
  await home.made(decide(second.id, "reject", people.approver.call));
  const decidedBy = async (who: string, by = owner) =>
    (await home.made(by("GET", `/workflows/approvals?decided_by=${who}`))).data.map((one: any) => one.id);
  expect(await decidedBy(`person:${people.ann.id}`)).toEqual([first.id]);
  expect(await decidedBy(`person:${people.approver.id}`, people.ann.call)).toEqual([second.id]);
  expect(await decidedBy(`key:${UNKNOWN}`)).toEqual([]);
  const stranger = await stage.join("Elsewhere");
  expect(await decidedBy(`person:${people.ann.id}`, stranger.owner)).toEqual([]);
  const { status, body } = await owner("GET", "/workflows/approvals?decided_by=Ann");
  expect([status, body.error.param]).toEqual([400, "decided_by"]);
});

describe("an approval", () => {
  test("can be read and decided, and the run continues with the decision", async () => {
    const form = { type: "object", properties: { amount: { type: "integer" } }, required: ["amount"] };
    const { run, workflow, approval, id } = await startAsking({ body: "Really?", form });
    const pending = {
      id,
      run_id: run,
      workflow_id: workflow.id,
      tool_call: null,
      name: "boss",
      title: "Go?",
      body: "Really?",
      form,
      attachments: [],
      files: [],
      assignees: [],
      may_decide: true,
      in_place_of: null,
      delegations: [],
      comment_count: 0,
      reminded_at: null,
      escalated_at: null,
      required: 1,
      one_rejection_ends: true,
      status: "pending",
      votes: [],
      decision: null,
      comment: null,
      data: null,
      decided_by: null,
      decided_in_place_of: null,
      decided_at: null,
      expires_at: time,
      created_at: time,
    };
    expect(approval).toEqual(pending);
    const asked = (await owner("GET", `/workflows/runs/${run}`)).body;
    expect(asked).toMatchObject({ status: "running", pending_approvals: 1 });
    const { status, body } = await decide(id, { decision: "approve", data: { amount: 5 }, comment: "fine \u0000" });
    const { run_status, ...record } = body;
    const by = { type: "person", id: (await home.owner("GET", "/auth/me")).body.user.id, name: expect.any(String) };
    const vote = { by, in_place_of: null, decision: "approve", comment: "fine \u0000", files: [], data: { amount: 5 } };
    expect([status, record]).toEqual([
      200,
      {
        ...pending,
        may_decide: false,
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
    const { result } = await home.until(run, isOver);
    expect(result.said).toMatchObject({ approved: true, data: { amount: 5 }, approval_id: id });
    expect(await listOf(run, key)).toEqual([record]);
  });

  test("that is rejected is returned to the run as not approved", async () => {
    const { run, id } = await startAsking({ form: { type: "object", required: ["x"] } });
    expect((await decide(id, { approved: false })).body).toMatchObject({ status: "rejected", decision: "reject" });
    expect((await home.until(run, isOver)).result.said.approved).toBe(false);
  });

  test("is decided by its own id if the run requests several", async () => {
    const workflow = await stage.register("two");
    const run = await home.start(workflow);
    await expect.poll(async () => (await listOf(run)).length, SOON).toBe(2);
    const [first, second] = await listOf(run);
    expect([first.name, second.name]).toEqual(["first", "second"]);
    await home.made(decide(second.id, { decision: "reject" }));
    expect((await listOf(run)).map(({ status }) => status)).toEqual(["pending", "rejected"]);
    await home.made(decide(first.id, { decision: "approve" }));
    const { result } = await home.until(run, isOver);
    expect(result.map(({ approved }: any) => approved)).toEqual([true, false]);
  });
});

describe("a decision", () => {
  test.each<[string, unknown]>([
    ["no fields", {}],
    ["an unknown word", { decision: "maybe" }],
    ["two decisions that differ", { decision: "approve", approved: false }],
    ["a number", { approved: 1 }],
    ["a list", []],
    ["a comment that is not a string", { decision: "approve", comment: 5 }],
    ["a comment that is too long", { decision: "approve", comment: "x".repeat(4_001) }],
  ])("is refused with %s", async (_, body) => {
    const { run, id } = await startAsking();
    const answer = await decide(id, body);
    expect(answer.status).toBe(400);
    expect(answer.body.error.message).toMatch(/\S/);
    expect(await decided(run)).toEqual([]);
  });

  test("counts a field that is null as left out", async () => {
    const { run, id } = await startAsking();
    expect(code(await decide(id, { decision: null, approved: null }))).toEqual([400, "invalid_decision"]);
    expect(await decided(run)).toEqual([]);
    const nothing = { data: null, comment: null, files: null };
    const { status, body } = await decide(id, { decision: "approve", approved: null, ...nothing });
    expect([status, body.status]).toEqual([200, "approved"]);
  });

  test("requires data that is valid for the form", async () => {
    const form = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };
    const { run, id } = await startAsking({ form });
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

  test("can be repeated by the same caller but not changed", async () => {
    const { run, id } = await startAsking();
    const first = await decide(id, { decision: "approve", comment: "one" });
    await home.until(run, isOver);
    for (const same of [{ approved: true }, { approved: true, comment: "one" }]) {
      const again = await decide(id, same);
      expect([again.status, again.body]).toEqual([200, { ...first.body, run_status: "completed" }]);
    }
    for (const answer of [await decide(id, { decision: "reject" }), await decide(id, { decision: "approve" }, key)])
      expect(code(answer)).toEqual([409, "approval_not_pending"]);
    expect((await decided(run)).length).toBe(1);
  });

  test("is recorded once under its Idempotency-Key, which refuses another body", async () => {
    const { run, id } = await startAsking();
    const send = (body: object, idempotency = "one") =>
      owner("POST", `/workflows/approvals/${id}/decision`, body, { "idempotency-key": idempotency });
    const first = await send({ decision: "approve", comment: "fine" });
    expect(first.status).toBe(200);
    expect((await send({ decision: "approve", comment: "fine" })).body.decision).toBe(first.body.decision);
    expect(code(await send({ decision: "approve", comment: "other" }))).toEqual([422, "idempotency_key_reused"]);
    expect(code(await send({ decision: "reject" }))).toEqual([422, "idempotency_key_reused"]);
    expect(code(await send({ decision: "reject" }, "two"))).toEqual([409, "approval_not_pending"]);
    expect(code(await send({ decision: "approve" }, "two words"))).toEqual([400, "invalid_idempotency_key"]);
    expect((await decided(run)).length).toBe(1);
  });

  test("is recorded once in a race of many", async () => {
    const { run, id } = await startAsking();
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
    // of ten requests of each caller, those with the winning decision succeed for the caller that won
    expect(answers.filter(({ status }) => status === 200).length).toBe(5);
  });

  test("is refused after the run was cancelled or the approval has expired", async () => {
    const cancelled = await startAsking();
    await home.made(owner("POST", `/workflows/runs/${cancelled.run}/cancel`));
    expect((await listOf(cancelled.run))[0].status).toBe("cancelled");
    const expired = await startAsking({ expires_in_ms: 300 });
    const { result } = await home.until(expired.run, isOver);
    expect(result.said).toMatchObject({ approved: false, status: "expired" });
    expect((await listOf(expired.run))[0]).toMatchObject({ status: "expired", decided_by: null });
    for (const { id, run } of [cancelled, expired]) {
      expect(code(await decide(id, { decision: "approve" }))).toEqual([409, "approval_not_pending"]);
      expect(await decided(run)).toEqual([]);
    }
  });
});

describe("the callers who may decide an approval", () => {
  const refused = async (id: string, by: Call) =>
    expect(code(await decide(id, { decision: "approve" }, by))).toEqual([403, "approver_not_allowed"]);
  const allowed = async (id: string, by: Call) =>
    expect(code(await decide(id, { decision: "approve" }, by))).toEqual([200, undefined]);

  test("are approvers and above", async () => {
    for (const role of ["approver", "builder"] as const) await allowed((await startAsking()).id, people[role].call);
    await refused((await startAsking()).id, people.viewer.call);
  });

  test("are only its assignees, if it has any: by id, email address or role", async () => {
    const { ann, approver, builder } = people;
    for (const person of [ann.id, ann.email, ann.email.toUpperCase()]) {
      const { id } = await startAsking({ assignees: [{ person: "else" }, { person }] });
      for (const by of [approver, builder]) await refused(id, by.call);
      await refused(id, owner);
      await allowed(id, ann.call);
    }
    const byRole = await startAsking({ assignees: [{ role: "builder" }] });
    await refused(byRole.id, ann.call);
    await allowed(byRole.id, builder.call);
    await home.made(owner("PUT", "/groups/others", { members: [approver.id, people.viewer.id] }));
    const byGroup = await startAsking({ assignees: [{ group: "others" }] });
    for (const by of [owner, ann.call, builder.call, people.viewer.call]) await refused(byGroup.id, by);
    const toViewer = await startAsking({ assignees: [{ person: people.viewer.id }] });
    await refused(toViewer.id, people.viewer.call);
  });

  test("include API keys only where the envelope and the approval allow them", async () => {
    await allowed((await startAsking()).id, key);
    await refused((await startAsking({ api_key_may_decide: false })).id, key);
    await refused((await startAsking({}, { envelope: { approvals: { allow_api_key: false } } })).id, key);
  });

  test("include API keys for restricted approvals only where the envelope says so", async () => {
    const restricted = [{ assignees: [{ role: "approver" }] }, { assignees: [{ person: people.ann.id }] }];
    for (const terms of [...restricted, { self_approval: false }]) {
      const { id, workflow } = await startAsking(terms);
      await refused(id, key);
      const approvals = { allow_api_key_when_restricted: true };
      await home.made(owner("PATCH", `/workflows/${workflow.id}`, { envelope: { approvals } }));
      await allowed(id, key);
    }
  });

  test("change at once with the envelope, also for live runs", async () => {
    const { id, workflow } = await startAsking({}, { by: people.ann.call });
    const change = (approvals: object) =>
      home.made(owner("PATCH", `/workflows/${workflow.id}`, { envelope: { approvals } }));
    const inboxOfAnn = async () => {
      const { body } = await people.ann.call("GET", "/workflows/approvals?status=pending&mine=true&limit=500");
      return body.data.some((approval: { id: string }) => approval.id === id);
    };
    expect(await inboxOfAnn()).toBe(true);
    await change({ allow_api_key: false });
    await refused(id, key);
    await change({ allow_api_key: true, self_approval: false });
    await refused(id, people.ann.call);
    await refused(id, key);
    expect(await inboxOfAnn()).toBe(false);
    await allowed(id, people.approver.call);
  });

  test("exclude the person who started the run if self_approval is false", async () => {
    const own = await startAsking({ self_approval: false });
    await refused(own.id, owner);
    await allowed(own.id, people.approver.call);
    const byKey = await startAsking({ self_approval: false }, { by: key });
    await refused(byKey.id, key);
    await allowed(byKey.id, owner);
  });

  test("must be members of the organization or keys of the project", async () => {
    const other = await stage.join("Other");
    const { id, run } = await startAsking();
    const unknown = await decide(UNKNOWN, { decision: "approve" });
    expect(code(unknown)).toEqual([404, "approval_not_found"]);
    for (const answer of [
      await decide(id, { decision: "approve" }, other.owner),
      await decide(id, { decision: "approve" }, other.key),
      await decide("nonsense", { decision: "approve" }),
      await decide("%00", { decision: "approve" }),
    ])
      expect([answer.status, answer.text]).toEqual([404, unknown.text]);
    const [mine, theirs] = [await home.project("Mine"), await home.project("Theirs")];
    const workflow = await stage.register("asks", { project_id: mine.id });
    const within = await home.start(workflow, { terms: { title: "x" } });
    await expect.poll(async () => (await listOf(within)).length, SOON).toBe(1);
    const [{ id: narrowly }] = (await listOf(within)) as [{ id: string }];
    expect((await decide(narrowly, { decision: "approve" }, theirs.key)).text).toBe(unknown.text);
    await allowed(narrowly, mine.key);
    expect((await decided(run)).length).toBe(0);
  });
});

describe("an approval that waits for long", () => {
  test("sends a reminder and escalates once each, and then others may decide it", async () => {
    const { ann, approver } = people;
    const terms = {
      assignees: [{ person: ann.id }],
      remind_after_ms: 50,
      escalate: { after_ms: 100, to: [{ person: approver.id }] },
    };
    const { run, id } = await startAsking(terms);
    const types = async () =>
      (await stage.events(run)).map(({ type }) => type).filter((type) => /^Approval(Rem|Esc)/.test(type));
    await expect.poll(types, SOON).toEqual(["ApprovalReminded", "ApprovalEscalated"]);
    await expect.poll(async () => (await listOf(run))[0].escalated_at, SOON).toEqual(time);
    expect((await listOf(run))[0]).toMatchObject({
      reminded_at: time,
      assignees: [{ person: ann.id }, { person: approver.id }],
    });
    const inbox = await approver.call("GET", "/workflows/approvals?status=pending&mine=true&limit=500");
    expect(inbox.body.data[0].id).toBe(id);
    await home.made(decide(id, "approve", approver.call));
    expect((await home.until(run, isOver)).result.said.approved).toBe(true);
    expect(await types()).toHaveLength(2);
  });
});

describe("the list of approvals", () => {
  test("contains those that the caller may decide, oldest first", async () => {
    const { ann, approver, viewer } = people;
    const first = await startAsking({ assignees: [{ person: ann.email }] });
    const second = await startAsking({ assignees: [{ role: "approver" }, { person: "\u0000%" }] });
    const third = await startAsking({ assignees: [{ person: approver.id }] });
    const own = await startAsking({ self_approval: false }, { by: ann.call });
    const closed = await startAsking({ assignees: [{ person: ann.id }] });
    await home.made(decide(closed.id, { decision: "approve" }, ann.call));
    const ids = [first, second, third, own, closed].map(({ id }) => id);
    const inbox = async (by: Call, query = "?status=pending&mine=true&limit=500") => {
      const { status, body } = await by("GET", `/workflows/approvals${query}`);
      expect(status).toBe(200);
      return body.data.map(({ id }: { id: string }) => id).filter((id: string) => ids.includes(id));
    };
    expect(await inbox(ann.call)).toEqual([first.id, second.id]);
    expect(await inbox(approver.call)).toEqual([second.id, third.id, own.id]);
    expect(await inbox(viewer.call)).toEqual([]);
    expect(await inbox(owner, "?status=pending&limit=500")).toEqual([first.id, second.id, third.id, own.id]);
    expect(await inbox(owner, "?status=approved&limit=500")).toEqual([closed.id]);
    const page = (await owner("GET", "/workflows/approvals?limit=1&offset=1")).body;
    expect([page.data.length, page.limit, page.offset, page.total > 4]).toEqual([1, 1, 1, true]);
    expect((await owner("GET", "/workflows/approvals?status=open")).body.error.param).toBe("status");
  });

  test("is for signed-in members of the organization only", async () => {
    expect(code(await key("GET", "/workflows/approvals"))).toEqual([403, "session_required"]);
    const other = await stage.join("Elsewhere");
    expect((await other.owner("GET", "/workflows/approvals")).body).toEqual({
      data: [],
      total: 0,
      limit: 50,
      offset: 0,
    });
  });
});

describe("an approval that takes several votes", () => {
  const votes = (required: number, one_rejection_ends = true) => ({ votes: { required, one_rejection_ends } });
  const typesAbout = async (run: string) =>
    (await stage.events(run)).map(({ type }) => type).filter((type) => /^Approval(Voted|Decided)$/.test(type));

  test("is approved by the last required vote, each person votes once, and the run sees all votes", async () => {
    const [ann, bob] = [await home.member("approver", "Ann"), await home.member("builder", "Bob")];
    const { run, id, approval } = await startAsking(votes(2));
    expect([approval.required, approval.one_rejection_ends]).toEqual([2, true]);
    const first = await decide(id, { decision: "approve", comment: "fine" }, ann.call);
    expect([first.status, first.body.status, first.body.votes.length]).toEqual([200, "pending", 1]);
    // a repeated vote is the same one, and no vote can be changed
    expect((await decide(id, "approve", ann.call)).body.votes.length).toBe(1);
    expect(code(await decide(id, "reject", ann.call))).toEqual([409, "already_voted"]);
    const second = await decide(id, "approve", bob.call);
    expect([second.status, second.body.status]).toEqual([200, "approved"]);
    expect(second.body.votes.map(({ by }: any) => by)).toEqual([
      { type: "person", id: ann.id, name: "Ann" },
      { type: "person", id: bob.id, name: "Bob" },
    ]);
    const { said } = (await home.until(run, isOver)).result;
    expect([said.approved, said.decided_by.id, said.votes.map(({ comment }: any) => comment)]).toEqual([
      true,
      bob.id,
      ["fine", null],
    ]);
    expect(await typesAbout(run)).toEqual(["ApprovalVoted", "ApprovalVoted", "ApprovalDecided"]);
    // both who voted may repeat it afterwards, a third person is late
    expect((await decide(id, "approve", ann.call)).status).toBe(200);
    expect(code(await decide(id, "approve"))).toEqual([409, "approval_not_pending"]);
  });

  test("is rejected by the first rejection, unless that counts as a vote", async () => {
    const [ann, bob] = [await home.member("approver"), await home.member("approver")];
    const ended = await startAsking(votes(3));
    expect((await decide(ended.id, "reject", ann.call)).body.status).toBe("rejected");
    const counted = await startAsking(votes(2, false));
    expect((await decide(counted.id, "reject", ann.call)).body.status).toBe("pending");
    expect((await decide(counted.id, "approve")).body.status).toBe("pending");
    expect((await decide(counted.id, "reject", bob.call)).body.status).toBe("rejected");
    expect((await home.until(counted.run, isOver)).result.said).toMatchObject({ approved: false, status: "rejected" });
  });

  test("counts simultaneous votes once each, and is decided once", async () => {
    const people = await Promise.all(Array.from({ length: 4 }, () => home.member("approver")));
    const { run, id } = await startAsking(votes(3));
    const statuses = await Promise.all(people.map(async ({ call }) => (await decide(id, "approve", call)).status));
    expect(statuses.toSorted()).toEqual([200, 200, 200, 409]);
    await home.until(run, isOver);
    expect((await typesAbout(run)).filter((type) => type === "ApprovalDecided").length).toBe(1);
  });

  test("leaves the inbox of people who have voted", async () => {
    const ann = await home.member("approver");
    const { id } = await startAsking(votes(2));
    const inbox = async () =>
      (await ann.call("GET", "/workflows/approvals?status=pending&mine=true&limit=500")).body.data.map(
        (one: any) => one.id,
      );
    expect(await inbox()).toContain(id);
    await decide(id, "approve", ann.call);
    expect(await inbox()).not.toContain(id);
  });
});

describe("a group of assignees", () => {
  const put = (group: string, members: unknown, by = owner) => by("PUT", `/groups/${group}`, { members });

  test("decides with its current members", async () => {
    const [ann, bob] = [await home.member("approver", "Ann"), await home.member("approver")];
    const { status, body } = await put("finance", [ann.id]);
    expect([status, body.members]).toEqual([200, [{ id: ann.id, name: "Ann", email: ann.email, role: "approver" }]]);
    const { id } = await startAsking({ assignees: [{ group: "Finance" }] });
    const inbox = async (by = ann.call) =>
      (await by("GET", "/workflows/approvals?mine=true&limit=500")).body.data.map((one: any) => one.id);
    expect([await inbox(), await inbox(bob.call)]).toEqual([
      expect.arrayContaining([id]),
      expect.not.arrayContaining([id]),
    ]);
    expect(code(await decide(id, "approve", bob.call))).toEqual([403, "approver_not_allowed"]);
    await put("finance", [bob.id]);
    expect(code(await decide(id, "approve", ann.call))).toEqual([403, "approver_not_allowed"]);
    expect((await decide(id, "approve", bob.call)).status).toBe(200);
  });

  test("is refused without members, with strangers, with an invalid name, or from a builder", async () => {
    const other = await stage.join("Others");
    const stranger = await other.member("approver");
    const builder = await home.member("builder");
    expect(code(await put("empty", []))).toEqual([400, "invalid_members"]);
    expect((await put("empty", [])).body.error.param).toBe("members");
    expect(code(await put("strange", [stranger.id]))).toEqual([400, "invalid_members"]);
    expect(code(await put("Upper", [builder.id]))).toEqual([400, "invalid_name"]);
    expect(code(await put("own", [builder.id], builder.call))).toEqual([403, "forbidden"]);
    expect((await put("gone", [builder.id])).status).toBe(200);
    expect(code(await other.owner("GET", "/groups/gone"))).toEqual([404, "group_not_found"]);
    expect((await owner("DELETE", "/groups/gone")).status).toBe(204);
    expect(code(await owner("GET", "/groups/gone"))).toEqual([404, "group_not_found"]);
  });
});
