import { expect, test } from "vitest";
import { newId, streamName } from "#events/ids.ts";
import { OrganizationCreated } from "#events/organization.ts";
import { providerStream, ProviderRemoved } from "#events/provider.ts";
import { SessionEnded, SessionStarted } from "#events/session.ts";
import { UserRegistered } from "#events/user.ts";
import { TurnRefused } from "#events/thread.ts";
import { getFile, listFiles } from "#projections/files/query.ts";
import { findKeyByHash, getKey, listKeys } from "#projections/keys/query.ts";
import { getProvider, listProviders } from "#projections/providers/query.ts";
import { findSessionsByTokenHash } from "#projections/sessions/query.ts";
import { getTurn } from "#projections/turns/query.ts";
import { listTurns, threadExists } from "#projections/turns/threadTurns.ts";
import { findUsersByEmail } from "#projections/users/query.ts";
import {
  fileUploaded,
  fixture,
  keyCreated,
  message,
  providerConfigured,
  turnCompleted,
  turnStarted,
} from "./fixture.ts";

test("a person signs in and is found by the session until it ends", async () => {
  const f = await fixture();
  await f.runner().start();
  const [user, session] = [newId(), newId()];
  await f.append(streamName("organization", f.organization), [
    OrganizationCreated.of({ organization_id: f.organization }, { name: "Org\u0000" }),
  ]);
  const person = { email: "ada@example.com", name: "Ada", password_hash: "$argon2id$" };
  await f.append(streamName("organization", f.organization), [
    UserRegistered.of({ user_id: user, role: "owner", email_claim: "claim" }, person),
  ]);
  const stream = streamName("session", session);
  const started = SessionStarted.of({
    session_id: session,
    user_id: user,
    token_hash: "token",
    epoch: 1,
    expires_at: "2030-01-01T00:00:00.000Z",
  });
  await f.append(stream, [started]);
  await f.followed();

  const find = (email: string, organization: string | null = null) =>
    findUsersByEmail(f.db, email, { organization, limit: 2 });
  const ada = { id: user, ...person, organization_name: "Org\u0000" };
  expect(await find("ada@example.com")).toEqual([expect.objectContaining(ada)]);
  expect(await find("ada@example.com", f.organization)).toHaveLength(1);
  expect(await find("ada@example.com", newId())).toEqual([]);
  expect(await find("bob@example.com")).toEqual([]);
  const findSession = async () => (await findSessionsByTokenHash(f.db, ["token", "another"])).get("token");
  const found = { session_id: session, user_id: user, role: "owner", organization_name: "Org\u0000", parked: false };
  expect(await findSession()).toMatchObject({
    ...found,
    expires_at: new Date("2030-01-01T00:00:00.000Z"),
  });
  const used = new Date("2029-01-01T00:00:00.000Z");
  await f.pool.query("insert into ops.last_used (id, at) values ($1, $2)", [session, used]);
  expect(await findSession()).toMatchObject({ idle_since: used });
  await f.append(stream, [SessionEnded.of({ session_id: session })]);
  await f.followed();
  expect(await findSession()).toBeUndefined();
});

test("queries treat items of another organization or scope like unknown items", async () => {
  const f = await fixture();
  await f.runner().start();
  const [key, file, turn, thread, stranger] = [newId(), newId(), newId(), newId(), newId()];
  await f.append(streamName("key", key), [keyCreated(key, "hash")]);
  await f.append(streamName("file", file), [fileUploaded(file, "a.txt")]);
  await f.append(streamName("thread", thread), [turnStarted(turn, [message("hi")]), turnCompleted(turn, "ho")]);
  await f.append(providerStream(f.organization, "own"), [providerConfigured("http://x", ["a"], "s")]);
  await f.followed();

  expect(await getKey(f.db, f.organization, key)).toMatchObject({
    id: key,
    products: ["knowledge"],
    last_used_at: null,
  });
  expect(await getFile(f.db, f.organization, "scope", file)).toMatchObject({
    id: file,
    filename: "a.txt",
    bytes: 3,
    wrapped_key: expect.any(String),
  });
  expect(await getProvider(f.db, f.organization, "own")).toMatchObject({
    name: "own",
    base_url: "http://x",
    models: ["a"],
  });
  expect(await threadExists(f.db, f.organization, thread, "scope")).toBe(true);

  expect(await getKey(f.db, stranger, key)).toBeUndefined();
  expect(await listKeys(f.db, stranger, { limit: 10, offset: 0 })).toEqual({ rows: [], total: 0 });
  expect(await getTurn(f.db, stranger, turn)).toBeUndefined();
  expect(await getProvider(f.db, stranger, "own")).toBeUndefined();
  for (const [organization, scope] of [
    [stranger, "scope"],
    [f.organization, "other"],
  ] as const) {
    expect(await getFile(f.db, organization, scope, file)).toBeUndefined();
    expect(await listFiles(f.db, organization, scope, 10)).toEqual([]);
    expect(await threadExists(f.db, organization, thread, scope)).toBe(false);
    expect(await listTurns(f.db, organization, thread, scope)).toEqual([]);
  }
  for (const odd of ["no uuid", "", "\u0000"]) {
    expect(await getKey(f.db, f.organization, odd)).toBeUndefined();
    expect(await getFile(f.db, f.organization, "scope", odd)).toBeUndefined();
    expect(await getTurn(f.db, f.organization, odd)).toBeUndefined();
    expect(await threadExists(f.db, f.organization, odd, "scope")).toBe(false);
  }
});

test("lists are ordered and exclude deleted items", async () => {
  const f = await fixture();
  await f.runner().start();
  const ids = [newId(), newId(), newId()];
  for (const id of ids) {
    await f.append(streamName("key", id), [keyCreated(id, `hash ${id}`)]);
    await f.append(streamName("file", id), [fileUploaded(id, id)]);
  }
  const thread = newId();
  for (const id of ids)
    await f.append(streamName("thread", thread), [turnStarted(id, [message(id)]), turnCompleted(id, `to ${id}`)]);
  const refused = newId();
  await f.append(streamName("thread", thread), [turnStarted(refused, [message("no")])]);
  await f.append(streamName("thread", thread), [TurnRefused.of({ turn_id: refused, attempt: 1, code: "busy" })], {
    things: [streamName("turn", refused)],
  });
  const own = providerStream(f.organization, "own");
  await f.append(own, [providerConfigured(null, null, "s")]);
  await f.append(own, [ProviderRemoved.of({ name: "own", ends_credential_id: null })]);
  await f.followed();

  const newest = [...ids].reverse();
  expect((await listFiles(f.db, f.organization, "scope", 2)).map((row) => row.id)).toEqual(newest.slice(0, 2));
  const page = await listKeys(f.db, f.organization, { limit: 2, offset: 1 });
  expect([page.rows.map((row) => row.id), page.total]).toEqual([newest.slice(1), 3]);
  const turns = await listTurns(f.db, f.organization, thread, "scope");
  expect(turns.map(({ turn_id, input, said }) => [turn_id, input, said?.text])).toEqual(
    ids.map((id) => [id, [message(id)], `to ${id}`]),
  );
  expect(await getTurn(f.db, f.organization, refused)).toMatchObject({
    status: "refused",
    code: "busy",
    input: null,
    said: null,
  });
  expect(await listProviders(f.db, f.organization)).toEqual([]);
  await f.append(own, [providerConfigured(null, null, "new")]);
  await f.followed();
  const [again] = await listProviders(f.db, f.organization);
  expect(again).toMatchObject({ name: "own", sealed_api_key: "new" });
  expect(again!.created_at.getTime()).toBeLessThan(again!.updated_at.getTime());
  expect(await findKeyByHash(f.db, "none")).toBeUndefined();
});
