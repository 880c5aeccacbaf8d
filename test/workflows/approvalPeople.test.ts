import { beforeAll, describe, expect, test } from "vitest";
import { streamName } from "#events/ids.ts";
import type { clientOf } from "../http/service.ts";
import { SOON, code, isOver, openFunctions, type Functions, type Tenant } from "./harness.ts";

type Person = Awaited<ReturnType<Tenant["member"]>>;
type Call = ReturnType<typeof clientOf>;

let stage: Functions;
let home: Tenant;
let owner: Call;
let ownerId: string;
let people: Record<"ann" | "bob" | "eve", Person>;
beforeAll(async () => {
  stage = await openFunctions({
    asks: { run: async (ctx, { terms }) => ({ said: await ctx.awaitApproval("boss", terms) }) },
  });
  ({ home } = stage);
  owner = home.owner;
  ownerId = (await owner("GET", "/auth/me")).body.user.id;
});

/** Starts a run, for the owner, that asks for an approval. */
async function startAsking(terms: object = {}) {
  const workflow = await stage.register("asks", {});
  const run = (
    await home.made(owner("POST", `/workflows/${workflow.id}/runs`, { args: { terms: { title: "Go?", ...terms } } }))
  ).id as string;
  const list = async () => (await owner("GET", `/workflows/runs/${run}/approvals`)).body.data;
  await expect.poll(async () => (await list()).length, SOON).toBe(1);
  return { run, id: (await list())[0].id as string };
}
const newPeople = async () => ({
  ann: await home.member("approver", "Ann"),
  bob: await home.member("approver", "Bob"),
  eve: await home.member("viewer", "Eve"),
});
const approver = (name: string): Promise<Person> => home.member("approver", name);
async function leave(...members: Person[]): Promise<void> {
  for (const { id } of members) await home.made(owner("PATCH", `/members/${id}`, { active: false }));
}
const forAnn = (more: object = {}) => startAsking({ assignees: [{ person: people.ann.id }], ...more });
const decide = (id: string, by: Call, decision = "approve") =>
  by("POST", `/workflows/approvals/${id}/decision`, { decision });
const inboxOf = async (by: Call): Promise<any[]> =>
  (await by("GET", "/workflows/approvals?status=pending&mine=true&limit=500")).body.data;
const has = async (by: Call, id: string) => (await inboxOf(by)).some((one) => one.id === id);

const delegate = (id: string, by: Call, to: string, reason: string | undefined = "On leave") =>
  by("POST", `/workflows/approvals/${id}/delegate`, { to, reason });

/** Whether each delegation of the approval has an effect, in order. */
const effectsOf = async (id: string): Promise<boolean[]> =>
  (await owner("GET", `/workflows/approvals/${id}`)).body.delegations.map((one: any) => one.has_effect);

test("an approval shows in advance whether its reader may decide it", async () => {
  const { ann, bob, eve } = await newPeople();
  const readers = [owner, ann.call, bob.call, eve.call, home.key];
  const mayDecide = (id: string) =>
    Promise.all(readers.map(async (by) => (await by("GET", `/workflows/approvals/${id}`)).body.may_decide));
  const { id } = await startAsking({ assignees: [{ person: ann.id }] });
  expect(await mayDecide(id)).toEqual([false, true, false, false, false]);
  expect((await delegate(id, ann.call, bob.id)).body.may_decide).toBe(false);
  expect(await mayDecide(id)).toEqual([false, false, true, false, false]);
  expect((await decide(id, bob.call)).body.may_decide).toBe(false);
  expect(await mayDecide(id)).toEqual([false, false, false, false, false]);
  const open = await startAsking({ self_approval: false, votes: { required: 2, one_rejection_ends: true } });
  expect(await mayDecide(open.id)).toEqual([false, true, true, false, false]);
  expect((await decide(open.id, ann.call)).body).toMatchObject({ status: "pending", may_decide: false });
  expect(await mayDecide(open.id)).toEqual([false, false, true, false, false]);
});

describe("delegating an approval", () => {
  beforeAll(async () => void (people = await newPeople()));

  test("assigns it to another person, with a visible reason", async () => {
    const { ann, bob } = people;
    const { run, id } = await forAnn();
    expect([await has(ann.call, id), await has(bob.call, id)]).toEqual([true, false]);
    const { status, body } = await delegate(id, ann.call, bob.id);
    expect([status, body.delegations]).toEqual([
      200,
      [
        {
          by: { id: ann.id, name: "Ann" },
          to: { id: bob.id, name: "Bob" },
          reason: "On leave",
          at: expect.any(String),
          has_effect: true,
        },
      ],
    ]);
    expect([await has(ann.call, id), await has(bob.call, id)]).toEqual([false, true]);
    expect(code(await decide(id, ann.call))).toEqual([403, "approver_not_allowed"]);
    expect(code(await delegate(id, ann.call, ownerId))).toEqual([403, "approver_not_allowed"]);
    expect((await decide(id, bob.call)).body).toMatchObject({ status: "approved", decided_in_place_of: null });
    expect((await home.until(run, isOver)).result.said.decided_by).toEqual({ type: "person", id: bob.id });
  });

  test("returns the same answer under its key after the other person has delegated it further", async () => {
    const { ann, bob } = people;
    const { id } = await forAnn();
    const path = `/workflows/approvals/${id}/delegate`;
    const send = () => ann.call("POST", path, { to: bob.id, reason: "On leave" }, { "idempotency-key": "leave" });
    expect((await send()).status).toBe(200);
    await delegate(id, bob.call, ownerId);
    const { status, body } = await send();
    expect([status, body.delegations.length]).toEqual([200, 2]);
  });

  test("can be undone by delegating it back", async () => {
    const { ann, bob } = people;
    const { id } = await forAnn();
    await delegate(id, ann.call, bob.id);
    expect((await delegate(id, bob.call, ann.id)).status).toBe(200);
    expect(code(await decide(id, bob.call))).toEqual([403, "approver_not_allowed"]);
    expect((await decide(id, ann.call)).status).toBe(200);
  });

  test.each([
    ["leaves", { active: false }],
    ["gets a role that may not decide", { role: "viewer" }],
    ["is removed", null],
  ])("ends if the delegate %s", async (_, change) => {
    const { ann, bob } = people;
    const [gone, heir] = [await home.member("approver", "Gone"), await home.member("approver", "Heir")];
    const [first, second] = [await forAnn(), await forAnn()];
    for (const { id } of [first, second]) {
      await delegate(id, ann.call, bob.id);
      await delegate(id, bob.call, gone.id);
      expect([await has(bob.call, id), await has(gone.call, id)]).toEqual([false, true]);
    }
    const path = `/members/${gone.id}`;
    await home.made(change ? owner("PATCH", path, change) : owner("PATCH", path, { active: false }));
    if (!change) expect((await owner("DELETE", path)).status).toBeLessThan(300);
    expect([await has(ann.call, first.id), await has(bob.call, first.id)]).toEqual([false, true]);
    expect(code(await decide(first.id, ann.call))).toEqual([403, "approver_not_allowed"]);
    expect((await decide(first.id, bob.call)).body).toMatchObject({ status: "approved" });
    // it can be handed on again, too
    expect((await delegate(second.id, bob.call, heir.id)).status).toBe(200);
    expect((await decide(second.id, heir.call)).body).toMatchObject({ status: "approved" });
  });

  test("refuses people who may not decide, existing assignees, oneself, and strangers", async () => {
    const { ann, bob, eve } = people;
    const stranger = await (await stage.join("Away")).member("approver");
    const { id } = await forAnn({ self_approval: false });
    const refusals = await Promise.all(
      [ann.id, eve.id, ownerId, stranger.id].map((to) => delegate(id, ann.call, to).then(code)),
    );
    expect(refusals).toEqual(Array.from({ length: 4 }, () => [400, "invalid_delegate"]));
    expect(code(await delegate(id, ann.call, bob.id, " "))).toEqual([400, undefined]);
    expect(code(await delegate(id, bob.call, ann.id))).toEqual([403, "approver_not_allowed"]);
    expect(code(await delegate(id, eve.call, bob.id))).toEqual([403, "forbidden"]);
    const open = await startAsking();
    expect(code(await delegate(open.id, ann.call, bob.id))).toEqual([400, "invalid_delegate"]);
    await decide(id, ann.call);
    expect(code(await delegate(id, ann.call, bob.id))).toEqual([409, "approval_not_pending"]);
  });

  test("neither grants nor removes a vote", async () => {
    const { ann, bob } = people;
    const { id } = await startAsking({
      assignees: [{ person: ann.id }, { person: bob.id }],
      votes: { required: 2, one_rejection_ends: true },
    });
    await decide(id, ann.call);
    expect(code(await delegate(id, ann.call, ownerId))).toEqual([409, "already_voted"]);
    expect(code(await delegate(id, bob.call, ann.id))).toEqual([400, "invalid_delegate"]);
    expect((await delegate(id, bob.call, ownerId)).status).toBe(200);
    expect((await decide(id, owner)).body.status).toBe("approved");
  });

  test("leaves one vote for the person who delegated and a delegate who voted and left", async () => {
    const { ann, bob } = people;
    const gone = await home.member("approver", "Gone");
    const { id } = await startAsking({
      assignees: [{ person: ann.id }, { person: bob.id }],
      votes: { required: 2, one_rejection_ends: true },
    });
    await delegate(id, ann.call, gone.id);
    expect((await decide(id, gone.call)).body.status).toBe("pending");
    await home.made(owner("PATCH", `/members/${gone.id}`, { active: false }));
    expect([await has(ann.call, id), await has(bob.call, id)]).toEqual([false, true]);
    expect(code(await decide(id, ann.call))).toEqual([403, "approver_not_allowed"]);
    expect((await decide(id, bob.call)).body.status).toBe("approved");
  });

  test.each(["votes", "delegates again"])("ends if the person %s while the delegate may not decide", async (what) => {
    const { ann, bob } = people;
    const [away, heir] = [await home.member("approver", "Away"), await home.member("approver", "Heir")];
    const { id } = await startAsking({
      assignees: [{ person: ann.id }, { person: bob.id }],
      votes: { required: 2, one_rejection_ends: true },
    });
    const setRole = (role: string) => home.made(owner("PATCH", `/members/${away.id}`, { role }));
    await delegate(id, ann.call, away.id);
    await setRole("viewer");
    expect(await effectsOf(id)).toEqual([false]);
    if (what === "votes") expect((await decide(id, ann.call)).body.status).toBe("pending");
    else expect((await delegate(id, ann.call, heir.id)).status).toBe(200);
    await setRole("approver");
    expect(await effectsOf(id)).toEqual(what === "votes" ? [false] : [false, true]);
    expect(await has(away.call, id)).toBe(false);
    expect(code(await decide(id, away.call))).toEqual([403, "approver_not_allowed"]);
    expect([await has(bob.call, id), await has(heir.call, id)]).toEqual([true, what !== "votes"]);
  });

  test("stays with the last delegate when the one before leaves", async () => {
    const { ann, bob } = people;
    const [gone, heir] = [await home.member("approver", "Gone"), await home.member("approver", "Heir")];
    const { id } = await startAsking({
      assignees: [{ person: ann.id }, { person: bob.id }],
      votes: { required: 2, one_rejection_ends: true },
    });
    await delegate(id, ann.call, gone.id);
    await delegate(id, gone.call, heir.id);
    await home.made(owner("PATCH", `/members/${gone.id}`, { active: false }));
    expect(await effectsOf(id)).toEqual([true, true]);
    expect([await has(ann.call, id), await has(heir.call, id)]).toEqual([false, true]);
    expect(code(await decide(id, ann.call))).toEqual([403, "approver_not_allowed"]);
    expect((await decide(id, heir.call)).body.status).toBe("pending");
    expect((await decide(id, bob.call)).body.status).toBe("approved");
  });

  test("stays with the last delegate when several before leave, one after the other", async () => {
    const { ann, bob } = people;
    const [one, two, heir] = [await approver("One"), await approver("Two"), await approver("Heir")];
    const { id } = await startAsking({
      assignees: [{ person: ann.id }, { person: bob.id }],
      votes: { required: 2, one_rejection_ends: true },
    });
    await delegate(id, ann.call, one.id);
    await delegate(id, one.call, two.id);
    await delegate(id, two.call, heir.id);
    await leave(one, two);
    expect(await effectsOf(id)).toEqual([true, true, true]);
    expect([await has(ann.call, id), await has(heir.call, id)]).toEqual([false, true]);
    expect(code(await decide(id, ann.call))).toEqual([403, "approver_not_allowed"]);
    expect((await decide(id, heir.call)).body.status).toBe("pending");
    expect([await has(ann.call, id), (await decide(id, bob.call)).body.status]).toEqual([false, "approved"]);
  });

  test("has no effect by what its delegate did with another person's vote", async () => {
    const { ann, bob } = people;
    const [gone, lost, heir] = [await approver("Gone"), await approver("Lost"), await approver("Heir")];
    const { id } = await startAsking({
      assignees: [{ person: ann.id }, { person: bob.id }],
      votes: { required: 2, one_rejection_ends: true },
    });
    await delegate(id, ann.call, gone.id);
    await delegate(id, gone.call, lost.id);
    await delegate(id, bob.call, gone.id);
    await delegate(id, gone.call, heir.id);
    await leave(gone, lost);
    expect(await effectsOf(id)).toEqual([false, false, true, true]);
    const seen = await Promise.all([ann, bob, heir].map(({ call }) => has(call, id)));
    expect(seen).toEqual([true, false, true]);
  });

  test("has no effect if it comes from one that has ended", async () => {
    const { ann, bob } = people;
    const [away, gone] = [await approver("Away"), await approver("Gone")];
    const { id } = await startAsking({
      assignees: [{ person: ann.id }, { person: bob.id }],
      votes: { required: 2, one_rejection_ends: true },
    });
    const setRole = (role: string) => home.made(owner("PATCH", `/members/${away.id}`, { role }));
    await delegate(id, ann.call, gone.id);
    await delegate(id, gone.call, away.id);
    await leave(gone);
    await setRole("viewer");
    expect((await decide(id, ann.call)).body.status).toBe("pending");
    await setRole("approver");
    expect(await effectsOf(id)).toEqual([false, false]);
    expect([await has(away.call, id), await has(bob.call, id)]).toEqual([false, true]);
    expect((await away.call("GET", `/workflows/approvals/${id}`)).body.may_decide).toBe(false);
    expect(code(await decide(id, away.call))).toEqual([403, "approver_not_allowed"]);
  });

  test("ends the links of the person who delegates", async () => {
    const { ann, bob } = people;
    const { id } = await forAnn();
    const { body } = await ann.call("POST", `/workflows/approvals/${id}/links`, {});
    await delegate(id, ann.call, bob.id);
    const secret = body.url.split("#")[1];
    const opened = await fetch(`${stage.url}/api/workflows/approval-links/${body.id}`, {
      headers: { authorization: `Bearer ${secret}` },
    });
    expect(opened.status).toBe(410);
  });
});

describe("a substitute", () => {
  beforeAll(async () => void (people = await newPeople()));
  const DAY = 24 * 60 * 60 * 1_000;
  const inDays = (days: number) => new Date(Date.now() + days * DAY).toISOString();
  const substitute = (by: Call, id: string, body: object) => by("PUT", `/members/${id}/substitute`, body);

  test("sees and decides in place of the absent person during the absence", async () => {
    const { ann, bob } = people;
    const { run, id } = await forAnn();
    expect(code(await decide(id, bob.call))).toEqual([403, "approver_not_allowed"]);
    const named = await substitute(ann.call, ann.id, { substitute: bob.id, until: inDays(7) });
    expect([named.status, named.body.substitute.name]).toEqual([200, "Bob"]);
    const inPlace = { id: ann.id, name: "Ann" };
    expect((await inboxOf(bob.call)).find((one) => one.id === id)).toMatchObject({ in_place_of: inPlace });
    expect((await ann.call("GET", `/workflows/approvals/${id}`)).body.in_place_of).toBeNull();
    expect((await decide(id, bob.call)).body).toMatchObject({
      decided_by: { id: bob.id },
      decided_in_place_of: inPlace,
      votes: [{ in_place_of: inPlace }],
    });
    await home.until(run, isOver);
    // one that is repeated writes nothing
    for (const _ of [1, 2]) expect((await ann.call("DELETE", `/members/${ann.id}/substitute`)).status).toBe(204);
    const written = await stage.resources.log.read(streamName("organization", home.organization_id));
    expect(written.filter(({ type }) => type === "SubstituteWithdrawn")).toHaveLength(1);
    const later = await forAnn();
    expect(await has(bob.call, later.id)).toBe(false);
    expect((await ann.call("GET", `/members/${ann.id}/substitute`)).body.substitute).toBeNull();
  });

  test("has no right before or after the absence, and cannot delegate", async () => {
    const { ann, bob } = people;
    const { id } = await forAnn();
    await substitute(owner, ann.id, { substitute: bob.id, from: inDays(1), until: inDays(2) });
    expect([await has(bob.call, id), code(await decide(id, bob.call))]).toEqual([false, [403, "approver_not_allowed"]]);
    await substitute(owner, ann.id, { substitute: bob.id, from: inDays(-2), until: inDays(1) });
    expect(await has(bob.call, id)).toBe(true);
    for (const path of ["links", "delegate"]) {
      const body = path === "links" ? {} : { to: ownerId, reason: "Why not" };
      expect(code(await bob.call("POST", `/workflows/approvals/${id}/${path}`, body))).toEqual([
        403,
        "approver_not_allowed",
      ]);
    }
  });

  test("shares one vote with the absent person", async () => {
    const { ann, bob } = people;
    await substitute(ann.call, ann.id, { substitute: bob.id, until: inDays(1) });
    const both = [{ person: ann.id }, { person: ownerId }];
    const { id } = await startAsking({ assignees: both, votes: { required: 2, one_rejection_ends: true } });
    expect((await decide(id, bob.call)).body).toMatchObject({
      status: "pending",
      votes: [{ in_place_of: { id: ann.id } }],
    });
    expect([await has(bob.call, id), await has(ann.call, id)]).toEqual([false, false]);
    expect(code(await decide(id, ann.call))).toEqual([409, "already_voted"]);
    expect((await decide(id, bob.call)).body.votes.length).toBe(1);
    expect((await decide(id, owner)).body.status).toBe("approved");
  });

  test("has no right while the absent person may not decide either", async () => {
    const { bob } = people;
    const away = await approver("Away");
    await substitute(owner, away.id, { substitute: bob.id, until: inDays(1) });
    const { id } = await startAsking({ assignees: [{ person: away.id }] });
    expect(await has(bob.call, id)).toBe(true);
    await home.made(owner("PATCH", `/members/${away.id}`, { role: "viewer" }));
    expect(await has(bob.call, id)).toBe(false);
    expect(code(await decide(id, bob.call))).toEqual([403, "approver_not_allowed"]);
  });

  test("cannot bypass the rule against self-approval", async () => {
    const { ann } = people;
    await substitute(ann.call, ann.id, { substitute: ownerId, until: inDays(1) });
    const { id } = await forAnn({ self_approval: false });
    expect([await has(owner, id), code(await decide(id, owner))]).toEqual([false, [403, "approver_not_allowed"]]);
  });

  test("is validated: role, times, oneself, and who may set one", async () => {
    const { ann, bob, eve } = people;
    const until = inDays(1);
    const answers = await Promise.all(
      [
        substitute(ann.call, ann.id, { substitute: ann.id, until }),
        substitute(ann.call, ann.id, { substitute: eve.id, until }),
        substitute(ann.call, ann.id, { substitute: bob.id, until: inDays(-1) }),
        substitute(ann.call, ann.id, { substitute: bob.id, from: inDays(2), until }),
        substitute(ann.call, ann.id, { substitute: bob.id, until: inDays(500) }),
        substitute(ann.call, ann.id, { substitute: bob.id, until: "tomorrow" }),
        substitute(bob.call, ann.id, { substitute: bob.id, until }),
        bob.call("DELETE", `/members/${ann.id}/substitute`),
      ].map(async (answer) => code(await answer)),
    );
    expect(answers).toEqual([
      ...Array.from({ length: 5 }, () => [400, "invalid_substitute"]),
      [400, undefined],
      [403, "forbidden"],
      [403, "forbidden"],
    ]);
  });
});

test("comments on an approval decide nothing, and everybody who may see it can read them", async () => {
  const { ann, bob, eve } = await newPeople();
  const { id } = await startAsking({ assignees: [{ person: ann.id }] });
  const comment = (by: Call, text: unknown) => by("POST", `/workflows/approvals/${id}/comments`, { text });
  expect((await comment(bob.call, "What for? \u0000")).status).toBe(201);
  expect((await comment(ann.call, "The new office.")).body).toMatchObject({ by: { id: ann.id, name: "Ann" } });
  expect([code(await comment(eve.call, "Me too")), code(await comment(ann.call, " "))]).toEqual([
    [403, "forbidden"],
    [400, undefined],
  ]);
  const { data } = (await eve.call("GET", `/workflows/approvals/${id}/comments`)).body;
  expect(data.map(({ by, text }: any) => [by.name, text])).toEqual([
    ["Bob", "What for? \u0000"],
    ["Ann", "The new office."],
  ]);
  const { body } = await decide(id, ann.call);
  expect([body.status, body.comment_count]).toEqual(["approved", 2]);
  expect(code(await comment(ann.call, "Late"))).toEqual([409, "approval_not_pending"]);
});
