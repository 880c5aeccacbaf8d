import { describe, expect, test } from "vitest";
import { clientOf } from "../http/service.ts";
import { code, isOver, openFunctions, SOON, UNKNOWN } from "./harness.ts";

/* Links by which people without an account decide approvals. */

type Call = ReturnType<typeof clientOf>;
interface Link {
  id: string;
  url: string;
  secret: string;
}

const stage = await openFunctions({
  asks: { run: async (ctx, { terms }) => ({ said: await ctx.awaitApproval("boss", terms) }) },
});
const { home } = stage;
const owner = home.owner;
const [ann, bob] = [await home.member("approver", "Ann"), await home.member("approver", "Bob")];

const listOf = async (run: string): Promise<any[]> =>
  (await owner("GET", `/workflows/runs/${run}/approvals`)).body.data;
async function startAsking(terms: object = {}, by = owner) {
  const workflow = await stage.register("asks");
  const args = { terms: { title: "Go?", ...terms } };
  const run: string = (await home.made(by("POST", `/workflows/${workflow.id}/runs`, { args }))).id;
  await expect.poll(async () => (await listOf(run)).length, SOON).toBe(1);
  return { run, id: (await listOf(run))[0].id as string };
}
const create = (id: string, body?: object, by = owner) => by("POST", `/workflows/approvals/${id}/links`, body);
async function link(id: string, body?: object, by = owner): Promise<Link> {
  const made = await home.made(create(id, body, by));
  return { ...made, secret: new URL(made.url).hash.slice(1) };
}
const linksOf = async (id: string): Promise<any[]> =>
  (await home.made(owner("GET", `/workflows/approvals/${id}/links`))).data;
const follow = ({ id, secret }: Pick<Link, "id" | "secret">, decision?: unknown) =>
  clientOf({ chat: `${stage.url}/api/workflows` }, secret)(
    decision === undefined ? "GET" : "POST",
    `/approval-links/${id}${decision === undefined ? "" : "/decision"}`,
    decision,
  );
const approve = { decision: "approve" };

describe("a link", () => {
  test("decides an approval once without an account, and its name is shown", async () => {
    const form = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };
    const { run, id } = await startAsking({ body: "Really?", form });
    const made = await link(id, { for: { name: "Ms. Gast", email: "gast@example.org" } });
    expect(made.url).toMatch(/\/console\/approve\/[0-9a-f-]{36}#link-svc-[A-Za-z0-9_-]{43}$/);
    const seen = await follow(made);
    expect(seen.body).toEqual({
      title: "Go?",
      body: "Really?",
      form,
      attachments: [],
      expires_at: expect.any(String),
      for: { name: "Ms. Gast" },
    });
    expect(seen.headers.get("cache-control")).toBe("no-store");
    expect(code(await follow(made, approve))).toEqual([400, "invalid_data"]);
    expect((await follow(made, { ...approve, data: { n: 1 }, comment: "fine" })).body).toEqual({
      status: "approved",
      decision: "approve",
    });
    const { result } = await home.until(run, isOver);
    expect(result.said).toMatchObject({ approved: true, data: { n: 1 }, decided_by: { type: "link", id: made.id } });
    const [approval] = await listOf(run);
    expect(approval.decided_by).toEqual({ type: "link", id: made.id, name: "Ms. Gast" });
    const again = await follow(made, { decision: "reject" });
    expect(code(again)).toEqual([410, "approval_link_ended"]);
    expect(again.body.error.message).toMatch(/^This link was used at .* its holder approved\.$/);
    expect(code(await follow(made))).toEqual([410, "approval_link_ended"]);
    expect(await linksOf(id)).toMatchObject([
      {
        id: made.id,
        status: "used",
        for: { name: "Ms. Gast", email: "gast@example.org" },
        created_by: { name: expect.any(String) },
      },
    ]);
  });

  test("shows its secret only in the answer that creates it", async () => {
    const { run, id } = await startAsking();
    const { secret } = await link(id);
    await follow({ id: (await linksOf(id))[0].id, secret }, { decision: "reject" });
    const events = JSON.stringify(await stage.events(run));
    const audit = (await owner("GET", `/events?stream=run-${run}`)).text;
    for (const text of [events, audit, JSON.stringify(await linksOf(id))]) expect(text).not.toContain(secret);
    expect(audit).toContain("ApprovalLinkCreated");
    expect(audit).not.toContain("secret_hash");
  });

  test("accepts only one of two simultaneous decisions", async () => {
    const { id } = await startAsking();
    const made = await link(id);
    const answers = await Promise.all([follow(made, approve), follow(made, { decision: "reject" })]);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 410]);
  });

  test("stops working once it is revoked or its approval is not pending", async () => {
    const first = await startAsking();
    const [revoked, other] = [await link(first.id), await link(first.id, {}, ann.call)];
    const path = `/workflows/approvals/${first.id}/links`;
    expect((await owner("DELETE", `${path}/${revoked.id}`)).status).toBe(204);
    expect((await owner("DELETE", `${path}/${revoked.id}`)).status).toBe(204);
    expect((await follow(revoked, approve)).body.error).toMatchObject({ message: "This link was revoked." });
    await home.made(owner("POST", `/workflows/approvals/${first.id}/decision`, approve));
    expect((await follow(other, approve)).body.error.message).toBe("Somebody else has approved it.");
    expect((await linksOf(first.id)).map(({ status }) => status)).toEqual(["revoked", "ended"]);
    expect(code(await create(first.id))).toEqual([409, "approval_not_pending"]);
    const second = await startAsking();
    const left = await link(second.id);
    await home.cancel(second.run);
    expect((await follow(left, approve)).body.error.message).toContain("cancelled together with its run");
  });

  test("ends with its approval at the latest", async () => {
    const { run, id } = await startAsking({ expires_in_ms: 3_600_000 });
    const [{ expires_at }] = await listOf(run);
    const ends = (await home.made(create(id, { expires_in: 86_400 }))).expires_at;
    expect(ends).toBe(expires_at);
    const soon = Date.parse((await home.made(create(id, { expires_in: 60 }))).expires_at) - Date.now();
    expect(soon).toBeGreaterThan(50_000);
    expect(soon).toBeLessThan(61_000);
  });

  test.each([
    ["a life of a second", { expires_in: 1 }],
    ["a life of a year", { expires_in: 365 * 86_400 }],
    ["no address", { for: { email: "nobody" } }],
    ["a name that is too long", { for: { name: "x".repeat(201) } }],
  ])("is refused with %s", async (_, body) => {
    const { id } = await startAsking();
    expect((await create(id, body)).status).toBe(400);
  });

  test("is limited to twenty per approval", async () => {
    const { id } = await startAsking();
    for (let n = 0; n < 20; n++) await link(id);
    expect(code(await create(id))).toEqual([409, "too_many_approval_links"]);
  });
});

describe("a link passes on a right, so", () => {
  test("only a person who may decide can create one", async () => {
    const { id } = await startAsking({ assignees: [{ person: ann.id }] });
    expect(code(await create(id))).toEqual([403, "approver_not_allowed"]);
    expect(code(await create(id, {}, bob.call))).toEqual([403, "approver_not_allowed"]);
    expect(code(await create(id, {}, home.key))).toEqual([403, "session_required"]);
    const made = await link(id, {}, ann.call);
    expect(code(await bob.call("DELETE", `/workflows/approvals/${id}/links/${made.id}`))).toEqual([
      403,
      "approver_not_allowed",
    ]);
    expect((await follow(made, approve)).status).toBe(200);
  });

  test("the person who started the run cannot create one if that person may not decide", async () => {
    const { id } = await startAsking({ self_approval: false }, ann.call);
    expect(code(await create(id, {}, ann.call))).toEqual([403, "approver_not_allowed"]);
    await link(id, {}, bob.call);
  });

  test("it cannot decide once its creator has lost the right", async () => {
    const carl = await home.member("approver", "Carl");
    const { id } = await startAsking();
    const made = await link(id, {}, carl.call);
    await home.made(owner("PATCH", `/members/${carl.id}`, { role: "viewer" }));
    const answer = await follow(made, approve);
    expect([...code(answer), answer.body.error.message]).toEqual([
      410,
      "approval_link_ended",
      "The person who created this link may not decide this approval any more.",
    ]);
  });

  test("a person and the person's links share one vote", async () => {
    const { run, id } = await startAsking({ votes: { required: 2, one_rejection_ends: true } });
    const [first, second, other] = [
      await link(id, {}, ann.call),
      await link(id, {}, ann.call),
      await link(id, {}, bob.call),
    ];
    expect((await follow(first, approve)).body.status).toBe("pending");
    const inbox = async (by: Call): Promise<string[]> => {
      const { data } = await home.made(by("GET", "/workflows/approvals?status=pending&mine=true&order=newest"));
      return data.map((one: { id: string }) => one.id);
    };
    expect([await inbox(ann.call), await inbox(bob.call)]).toEqual([
      expect.not.arrayContaining([id]),
      expect.arrayContaining([id]),
    ]);
    expect((await ann.call("GET", `/workflows/approvals/${id}`)).body.may_decide).toBe(false);
    expect(code(await follow(first, approve))).toEqual([410, "approval_link_ended"]);
    expect(code(await follow(second, approve))).toEqual([409, "already_voted"]);
    expect(code(await create(id, {}, ann.call))).toEqual([409, "already_voted"]);
    const decide = (by: Call) => by("POST", `/workflows/approvals/${id}/decision`, approve);
    expect(code(await decide(ann.call))).toEqual([409, "already_voted"]);
    expect((await follow(other, approve)).body.status).toBe("approved");
    expect((await home.until(run, isOver)).result.said.votes).toHaveLength(2);
  });
});

test("a link without its secret gets a 404, as does another organization, and guesses are limited", async () => {
  const { id } = await startAsking();
  const [made, other] = [await link(id), await link(id)];
  const wrong = [
    { id: made.id, secret: other.secret },
    { id: made.id, secret: "x" },
    { id: UNKNOWN, secret: made.secret },
    { id: "nonsense", secret: made.secret },
  ];
  for (const guess of wrong) {
    expect(code(await follow(guess))).toEqual([404, "approval_link_not_found"]);
    expect(code(await follow(guess, approve))).toEqual([404, "approval_link_not_found"]);
  }
  const foreign = await stage.join("Foreign");
  expect(code(await create(id, {}, foreign.owner))).toEqual([404, "approval_not_found"]);
  expect(code(await foreign.owner("GET", `/workflows/approvals/${id}/links`))).toEqual([404, "approval_not_found"]);
  const guesses = await Promise.all(Array.from({ length: 60 }, () => follow({ id: made.id, secret: "x" })));
  expect(guesses.map(code)).toContainEqual([429, "too_many_attempts"]);
  // parallel guesses refuse each other, so less than the limit of them count
  const guess = async () => code(await follow({ id: made.id, secret: "x" }))[0];
  for (let n = 0; n < 60 && (await guess()) === 404; n++);
  await stage.resources.db.query("update ops.login_attempts set at = at - interval '14 minutes'");
  expect(await guess()).toBe(429);
  // a bearer of the secret is not locked out by others behind the same address
  expect((await follow(made, approve)).status).toBe(200);
});
