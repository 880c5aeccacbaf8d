import { afterAll, beforeAll, expect, test } from "vitest";
import { newCommandId, newId } from "#events/ids.ts";
import { openKeyring } from "#infra/keyring.ts";
import { openLog } from "#infra/postgres/log.ts";
import { openPool } from "#infra/postgres/pool.ts";
import { aLog, aStream, change, named } from "./log.ts";

let its: Awaited<ReturnType<typeof aLog>>;
beforeAll(async () => {
  its = await aLog();
});
afterAll(() => its.close());

const kinds = (appended: { kind: string }[]) => appended.map(({ kind }) => kind);

test("of 64 writers who race for each version of a stream one wins, and no version is left out", async () => {
  const stream = aStream();
  const write = async (): Promise<void> => {
    for (;;) {
      const version = ((await its.log.heads([stream])).get(stream)?.version ?? 0) + 1;
      if ((await its.log.append(change(stream, { version }))).kind === "committed") return;
    }
  };
  await Promise.all(Array.from({ length: 64 }, write));
  const versions = (await its.log.read(stream)).map((event) => event.version);
  expect(versions).toEqual(Array.from({ length: 64 }, (_, n) => n + 1));
});

test("a conflict fails its own command only", async () => {
  const [good, bad, other] = [aStream(), aStream(), aStream()];
  const appended = await Promise.all([
    its.log.append(change(good)),
    its.log.append(change(bad, { version: 5 })),
    its.log.append(change(other)),
  ]);
  expect(kinds(appended)).toEqual(["committed", "conflict", "committed"]);
  expect(await its.log.read(bad)).toEqual([]);
});

test("commands of one stream follow each other in a batch, and one that does not fit does not stop the next", async () => {
  const stream = aStream();
  const appended = await Promise.all([1, 9, 2, 2, 3].map((version) => its.log.append(change(stream, { version }))));
  expect(kinds(appended)).toEqual(["committed", "conflict", "committed", "conflict", "committed"]);
});

test("a redelivered command is answered from its outcome and does nothing", async () => {
  const [stream, id] = [aStream(), newCommandId()];
  const first = await its.log.append(change(stream, { id, fingerprint: "f" }));
  const again = await its.log.append(change(stream, { id, version: 2 }));
  const position = first.kind === "committed" ? first.last : 0;
  expect(again).toEqual({ kind: "repeated", outcome: { position, fingerprint: "f", rejection: null } });
  expect(await its.log.read(stream)).toHaveLength(1);
});

test("the same command twice in one batch has one effect", async () => {
  const [stream, id] = [aStream(), newCommandId()];
  const twice = await Promise.all([its.log.append(change(stream, { id })), its.log.append(change(stream, { id }))]);
  expect(kinds(twice)).toEqual(["committed", "conflict"]);
  expect((await its.log.append(change(stream, { id }))).kind).toBe("repeated");
});

test("equal command ids of two tenants are two commands", async () => {
  const id = newCommandId();
  const [a, b] = [newId(), newId()];
  const both = [
    await its.log.append(change(aStream(), { id, organization: a })),
    await its.log.append(change(aStream(), { id, organization: b })),
  ];
  expect(kinds(both)).toEqual(["committed", "committed"]);
  expect((await its.log.outcome(id, a))?.position).not.toBe((await its.log.outcome(id, b))?.position);
});

test("a refusal leaves its outcome and no event", async () => {
  const id = newCommandId();
  const rejection = { code: "no", message: "No.", param: "x" };
  const { command } = change(aStream(), { id });
  const refused = {
    command,
    events: [],
    heads: [],
    rejection,
    keys: {},
    erase: { things: [], streams: [] },
    forget: [],
  };
  expect((await its.log.append(refused)).kind).toBe("committed");
  expect(await its.log.append(refused)).toEqual({
    kind: "repeated",
    outcome: { position: 0, fingerprint: null, rejection },
  });
});

test("an answer that was lost with its connection is found by appending again", async () => {
  const pool = openPool(its.url, { max: 1, name: "cut" });
  const cut = openLog(pool, openKeyring(Buffer.alloc(32, 7)));
  const command = change(aStream());
  // The server commits and the client never hears: its socket goes as soon as the statement was sent.
  const client = await pool.connect();
  client.on("error", () => {});
  const stream = (client as unknown as { connection: { stream: import("node:net").Socket } }).connection.stream;
  const { write } = stream;
  stream.write = (bytes: Buffer) => {
    const sent = write.call(stream, bytes);
    setImmediate(() => stream.destroy());
    return sent;
  };
  client.release();
  await cut.append(command).catch(() => {});
  await expect
    .poll(async () => (await its.log.outcome(command.command.id, command.command.organization_id))?.position)
    .toBeGreaterThan(0);
  expect((await cut.append(command)).kind).toBe("repeated");
  expect(await its.log.read(command.events[0]!.stream)).toHaveLength(1);
  await pool.end();
});

test.each(["NUL \u0000", "lone surrogates \ud800 \udfff", "line\nfeed", '"quotes" and \\', "\u2028", "🙂"])(
  "keeps %j as it is",
  async (name) => {
    const { stream, event } = named(name);
    await its.log.append(change(stream, { event }));
    expect((await its.log.read(stream))[0]?.personal).toEqual({ name });
  },
);

test("personal fields stand in the database only sealed, and end with the key of their thing", async () => {
  const { stream, thing, event } = named("Canary Incorporated");
  await its.log.append(change(stream, { event }));
  const [row] = await its.db.query<{ row: string }>("select e::text as row from log.events e where stream = $1", [
    stream,
  ]);
  expect(row!.row).not.toContain("Canary");
  await its.log.append({ ...change(stream, { version: 2 }), erase: { things: [thing], streams: [] } });
  const [erased] = await its.log.read(stream);
  expect(erased).toMatchObject({ type: "OrganizationCreated", personal: undefined });
});

test("an erasure by stream takes every key that was made in it", async () => {
  const { stream, event } = named("A");
  await its.log.append(change(stream, { event }));
  await its.log.append({ ...change(stream, { version: 2 }), erase: { things: [], streams: [stream] } });
  expect(await its.log.find([stream])).toEqual(new Map());
});

test("an outcome that was given up lets the same command run again", async () => {
  const [stream, id] = [aStream(), newCommandId()];
  await its.log.append(change(stream, { id }));
  await its.log.append({ ...change(stream, { version: 2 }), forget: [id] });
  expect((await its.log.append(change(stream, { id, version: 3 }))).kind).toBe("committed");
});
