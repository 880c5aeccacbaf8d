import { expect, test } from "vitest";
import { ERASED_KINDS } from "#events/erasure.ts";
import { SOON, WAITING, type Client, type Tenant } from "../workflows/tenant.ts";
import { belongings, openTwoTenants } from "./tenants.ts";

/* What an erasure would delete is counted before it, and that changes nothing. */

const { home, foreign } = await openTwoTenants();
const collection = (await home.made(home.owner("POST", "/v1/knowledge/collections", { name: "Shelf" }))).id;

const preview = (body: object, { made, owner }: Tenant = home): Promise<any> =>
  made(owner("POST", "/erasures/preview", body));
const countsOf = (answer: any) => Object.fromEntries(ERASED_KINDS.map((kind) => [kind, answer[kind].count]));
const hold = (subject: string): Promise<{ id: string }> =>
  home.made(home.owner("POST", "/holds", { subject, name: "Case 9", reason: "A claim" }));
const NOTHING = { threads: 0, files: 0, runs: 0, documents: 0, extractions: 0 };

async function leaveThings(by: Client, user?: string) {
  const { say, upload } = belongings(home);
  await say(by, "Hello", user === undefined ? {} : { user });
  await upload(by, "A note.", user);
  const path = `/v1/knowledge/collections/${collection}/documents/text`;
  const readers = user === undefined ? {} : { readers: [{ external_user: user }] };
  const { id: document } = await home.made(by("POST", path, { name: "Note", text: `Of ${user}`, ...readers }));
  return { document };
}

test("a preview counts what the erasure then deletes, and changes nothing", async () => {
  const { id, call } = await home.newKey();
  await leaveThings(call);
  await leaveThings(home.key);
  const run = await home.start(await home.register(WAITING), {}, call);
  const owner = `key:${id}`;
  const answer = await preview({ owner });
  expect(answer).toMatchObject({ held: [], extractions: { count: 0, oldest: null } });
  expect(countsOf(answer)).toEqual({ ...NOTHING, threads: 1, files: 1, runs: 1, documents: 1 });
  expect(Date.parse(answer.runs.oldest)).toBeGreaterThan(Date.now() - 600_000);
  expect(countsOf(await preview({ owner, kinds: ["files"] }))).toEqual({ ...NOTHING, files: 1 });
  expect(countsOf(await preview({ owner }, foreign))).toEqual(NOTHING);
  expect((await home.read(run)).status).not.toBe("cancelled");

  const { id: erasure } = await home.made(home.owner("POST", "/erasures", { owner }));
  const read = () => home.made(home.owner("GET", `/erasures/${erasure}`));
  await expect.poll(async () => (await read()).status, SOON).toBe("completed");
  const counts = countsOf(answer);
  const done = await read();
  expect(Object.fromEntries(ERASED_KINDS.map((kind) => [kind, done[`${kind}_deleted`]]))).toEqual(counts);
  expect(countsOf(await preview({ owner }))).toEqual(NOTHING);
});

test("an erasure preview names each item that a hold keeps", async () => {
  const { id, call } = await home.newKey();
  const { document } = await leaveThings(call);
  const run = await home.start(await home.register(WAITING), {}, call);
  const [one, other] = [await hold(`document:${document}`), await hold(`run:${run}`)];
  const owner = `key:${id}`;
  const answer = await preview({ owner });
  expect(countsOf(answer)).toEqual({ ...NOTHING, threads: 1, files: 1 });
  expect(answer.held).toEqual([
    { hold_id: other.id, subject: `run:${run}`, name: "Case 9", kind: "runs", count: 1 },
    { hold_id: one.id, subject: `document:${document}`, name: "Case 9", kind: "documents", count: 1 },
  ]);
  for (const { id: placed } of [one, other]) await home.made(home.owner("DELETE", `/holds/${placed}`));
  expect(await preview({ owner })).toMatchObject({ runs: { count: 1 }, documents: { count: 1 }, held: [] });
  await home.cancel(run);
});

test("a preview for an external user counts the data that all keys store for the user", async () => {
  const user = "zo\u00eb@example.com";
  await leaveThings(home.key, user);
  await leaveThings((await home.newKey()).call, user);
  await leaveThings(home.key, "somebody else");
  const answer = await preview({ owner: `user:${user}` });
  expect(countsOf(answer)).toEqual({ ...NOTHING, threads: 2, files: 2, documents: 1 });
  expect(countsOf(await preview({ owner: "user:nobody" }))).toEqual(NOTHING);
});

test("an invalid owner or kind is refused with the name of its field", async () => {
  for (const [body, param] of [
    [{ owner: "everybody" }, "owner"],
    [{ owner: "user:a", kinds: ["mails"] }, "kinds[0]"],
    [{ kinds: ["threads"] }, "owner"],
  ] as const) {
    const { status, body: answer } = await home.owner("POST", "/erasures/preview", body);
    expect([status, answer.error.param]).toEqual([400, param]);
  }
});
