import { afterAll, describe, expect, test, vi } from "vitest";
import { newCommandId, newId } from "#events/ids.ts";
import type { AppendRequest } from "#events/ports.ts";
import { openKeyring } from "#infra/keyring.ts";
import { openLog } from "#infra/postgres/log.ts";
import { openPool } from "#infra/postgres/pool.ts";
import { openTestLog, aStream, change, named } from "./log.ts";

const testLog = await openTestLog();
afterAll(() => testLog.close());

const kinds = (appended: { kind: string }[]) => appended.map(({ kind }) => kind);

/** The key of a thing that nothing else has. */
const eraseMore = ({ things, streams }: AppendRequest["erase"]) => ({ things: [...things, newCommandId()], streams });

/** Commands are appended as new first; those that forget another one, by log.append. */
const ways: [string, (request: AppendRequest) => AppendRequest][] = [
  ["appended as new", (request) => request],
  ["appended as new with an erasure", (request) => ({ ...request, erase: eraseMore(request.erase) })],
  ["appended by log.append", (request) => ({ ...request, forget: [...request.forget, newCommandId()] })],
];

describe.each(ways)("a command that is %s", (_, prepare) => {
  const append = (request: AppendRequest) => testLog.log.append(prepare(request));

  test("one of 64 concurrent writers gets each version of a stream, and no version is skipped", async () => {
    const stream = aStream();
    const write = async (): Promise<void> => {
      for (;;) {
        const version = ((await testLog.log.heads([stream])).get(stream)?.version ?? 0) + 1;
        if ((await append(change(stream, { version }))).kind === "committed") return;
      }
    };
    await Promise.all(Array.from({ length: 64 }, write));
    const versions = (await testLog.log.read(stream)).map((event) => event.version);
    expect(versions).toEqual(Array.from({ length: 64 }, (_, n) => n + 1));
  });

  test("a conflict fails only its own command", async () => {
    const [good, bad, other] = [aStream(), aStream(), aStream()];
    const appended = await Promise.all([
      append(change(good)),
      append(change(bad, { version: 5 })),
      append(change(other)),
    ]);
    expect(kinds(appended)).toEqual(["committed", "conflict", "committed"]);
    expect(await testLog.log.read(bad)).toEqual([]);
  });

  test("a batch appends consecutive commands of one stream, and a conflicting command does not stop the next one", async () => {
    const stream = aStream();
    const appended = await Promise.all([1, 9, 2, 2, 3].map((version) => append(change(stream, { version }))));
    expect(kinds(appended)).toEqual(["committed", "conflict", "committed", "conflict", "committed"]);
  });

  test("a redelivered command gets its stored outcome and has no effect", async () => {
    const [stream, id] = [aStream(), newCommandId()];
    const first = await append(change(stream, { id, fingerprint: "f" }));
    const again = await append(change(stream, { id, version: 2 }));
    const position = first.kind === "committed" ? first.last : 0;
    expect(again).toEqual({ kind: "repeated", outcome: { position, fingerprint: "f", rejection: null } });
    expect(await testLog.log.read(stream)).toHaveLength(1);
  });

  test("a command that occurs twice in one batch has one effect", async () => {
    const [stream, id] = [aStream(), newCommandId()];
    const twice = await Promise.all([append(change(stream, { id })), append(change(stream, { id }))]);
    expect(kinds(twice)).toEqual(["committed", "conflict"]);
    expect((await append(change(stream, { id }))).kind).toBe("repeated");
  });

  test("equal command ids of two organizations are two commands", async () => {
    const id = newCommandId();
    const [a, b] = [newId(), newId()];
    const both = [
      await append(change(aStream(), { id, organization: a })),
      await append(change(aStream(), { id, organization: b })),
    ];
    expect(kinds(both)).toEqual(["committed", "committed"]);
    expect((await testLog.log.outcome(id, a))?.position).not.toBe((await testLog.log.outcome(id, b))?.position);
  });

  test("outcomes that hundreds request at once use one connection, and each caller gets its own", async () => {
    const pool = openPool(testLog.url, { max: 1, name: "outcomes" });
    const asked = vi.spyOn(pool, "query");
    const { outcome } = openLog(pool, openKeyring(Buffer.alloc(32, 7)));
    const [stream, id, organization] = [aStream(), `an id ${newCommandId()}`, newId()];
    const first = await append(change(stream, { id, organization, fingerprint: "f" }));
    const others = Array.from({ length: 300 }, () => outcome(newCommandId(), organization));
    const found = await Promise.all([outcome(id, organization), outcome(id, newId()), ...others]);
    const position = first.kind === "committed" ? first.last : 0;
    expect(found.filter(Boolean)).toEqual([{ position, fingerprint: "f", rejection: null }]);
    expect(found[0]).toBeDefined();
    expect(asked.mock.calls.length).toBeLessThanOrEqual(2);
    await pool.end();
  });

  test("a rejection stores its outcome and no event", async () => {
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
    expect((await append(refused)).kind).toBe("committed");
    expect(await append(refused)).toEqual({
      kind: "repeated",
      outcome: { position: 0, fingerprint: null, rejection },
    });
  });

  test("a result that was lost with its connection is returned if the command is appended again", async () => {
    const pool = openPool(testLog.url, { max: 1, name: "cut" });
    const cut = openLog(pool, openKeyring(Buffer.alloc(32, 7)));
    const command = change(aStream());
    // The server commits and the client gets no result: its socket closes as soon as the statement is sent.
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
    await cut.append(prepare(command)).catch(() => {});
    await expect
      .poll(async () => (await testLog.log.outcome(command.command.id, command.command.organization_id))?.position)
      .toBeGreaterThan(0);
    expect((await cut.append(prepare(command))).kind).toBe("repeated");
    expect(await testLog.log.read(command.events[0]!.stream)).toHaveLength(1);
    await pool.end();
  });

  test.each(["NUL \u0000", "lone surrogates \ud800 \udfff", "line\nfeed", '"quotes" and \\', "\u2028", "🙂"])(
    "keeps %j unchanged",
    async (name) => {
      const { stream, event } = named(name);
      await append(change(stream, { event }));
      expect((await testLog.log.read(stream))[0]?.personal).toEqual({ name });
    },
  );

  test("personal fields are stored only sealed, and are lost with the key of their thing", async () => {
    const { stream, thing, event } = named("Canary Incorporated");
    await append(change(stream, { event }));
    const [row] = await testLog.db.query<{ row: string }>("select e::text as row from log.events e where stream = $1", [
      stream,
    ]);
    expect(row!.row).not.toContain("Canary");
    await append({ ...change(stream, { version: 2 }), erase: { things: [thing], streams: [] } });
    const [erased] = await testLog.log.read(stream);
    expect(erased).toMatchObject({ type: "OrganizationCreated", personal: undefined });
  });

  test("erasing a stream destroys every key that was created in it", async () => {
    const { stream, event } = named("A");
    await append(change(stream, { event }));
    await append({ ...change(stream, { version: 2 }), erase: { things: [], streams: [stream] } });
    expect(await testLog.log.find([stream])).toEqual(new Map());
  });

  test("a command can run again after its outcome was deleted", async () => {
    const [stream, id] = [aStream(), newCommandId()];
    await append(change(stream, { id }));
    await append({ ...change(stream, { version: 2 }), forget: [id] });
    expect((await append(change(stream, { id, version: 3 }))).kind).toBe("committed");
  });
});

test("a command sees the writes of an earlier command of the same batch", async () => {
  const [read, other] = [aStream(), aStream()];
  await testLog.log.append(change(read));
  const special = (request: AppendRequest) => ({ ...request, forget: [...request.forget, newCommandId()] });
  const decided = { ...change(other), unchanged: [{ stream: read, version: 1 }] };
  const writing = special(change(read, { version: 2 }));
  const elsewhere = { ...change(aStream()), unchanged: [{ stream: read, version: 1 }] };
  const appended = await Promise.all([elsewhere, writing, decided].map((request) => testLog.log.append(request)));
  expect(kinds(appended)).toEqual(["committed", "committed", "conflict"]);
  expect(await testLog.log.read(other)).toEqual([]);
});
