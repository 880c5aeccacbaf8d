import { afterAll, expect, test, vi } from "vitest";
import { newId } from "#events/ids.ts";
import { SessionStarted } from "#events/session.ts";
import { openKeyring } from "#infra/keyring.ts";
import { openLog } from "#infra/postgres/log.ts";
import { BrokenChain, verifyLog } from "#infra/postgres/verify.ts";
import { openTestLog, aStream, change, named } from "./log.ts";

const testLog = await openTestLog({ connections: 12 });
afterAll(() => testLog.close());

const WRITERS = 16;
const EACH = 100;
const SLOW = 20;
const ALL = WRITERS * EACH + SLOW;

test("a follower with a plain position misses no event while 16 writers commit at different speeds", async () => {
  // A naive follower would skip events of transactions that take their number early and commit late.
  const slowly = async (n: number) => {
    const client = await testLog.pool.connect();
    try {
      await client.query("begin");
      await client.query("select log.append($1, $2, '[]', '[]', '[]', '[]')", [
        JSON.stringify([
          { n: 0, command_id: `slow-${n}`, organization_id: "00000000-0000-4000-8000-000000000001", meta: "{}" },
        ]),
        JSON.stringify([
          { n: 0, command: 0, stream: aStream(), version: 1, type: "SessionEnded", shape: 1, data: "{}" },
        ]),
      ]);
      await client.query("select pg_sleep(0.02)");
      await client.query("commit");
    } finally {
      client.release();
    }
  };
  let writing = true;
  const seen: number[] = [];
  const follow = async () => {
    for (let after = 0; ; ) {
      const done = !writing;
      const events = await testLog.log.follow(after, 50);
      for (const event of events) seen.push((after = event.position));
      if (done && events.length === 0) return;
    }
  };
  const writer = async () => {
    for (let n = 0; n < EACH; n++) await testLog.log.append(change(aStream()));
  };
  const slow = (async () => {
    for (let n = 0; n < SLOW; n++) await slowly(n);
  })();
  const following = follow();
  await Promise.all([...Array.from({ length: WRITERS }, writer), slow]);
  writing = false;
  await following;
  expect(seen).toEqual(Array.from({ length: ALL }, (_, n) => n + 1));
});

test("verifying the hash chain succeeds, and reports the position of any change", async () => {
  const tip = await verifyLog(testLog.db, () => {});
  expect(tip.position).toBe(ALL);
  const broken = async (damage: string): Promise<unknown> => {
    const client = await testLog.pool.connect();
    try {
      await client.query("begin");
      await client.query(damage);
      const db = {
        query: async <R>(text: string, values?: unknown[]) => (await client.query(text, values)).rows as R[],
      };
      return await verifyLog(db, () => {}).catch((error: BrokenChain) => error.message);
    } finally {
      await client.query("rollback");
      client.release();
    }
  };
  expect(await broken("update log.events set data = '{}' where position = 700")).toMatch(
    /^position 700: SessionEnded of session-/,
  );
  expect(
    await broken("update log.events set recorded_at = recorded_at + interval '1 second' where position = 9"),
  ).toMatch(/^position 9: /);
  expect(await broken("delete from log.events where position = 1000")).toBe("position 1000: the event is missing");
  expect(await broken("delete from log.events where position > 1610")).toMatch(/^position 1611: the log is truncated/);
  expect(await broken("delete from log.events")).toMatch(/^position 1: the log is truncated/);
  expect(await broken("update log.head set hash = sha256('')")).toMatch(/^position 1620: the head has another hash/);
  expect(await broken("delete from log.head")).toMatch(/no head row/);
});

test("a scan finds events by type and returns the position that it has examined", async () => {
  const { events, seen } = await testLog.log.scan(0, ["OrganizationCreated"], 10);
  expect({ events, seen }).toEqual({ events: [], seen: ALL });
  expect((await testLog.log.scan(0, ["SessionEnded"], 10)).seen).toBe(10);
});

test("a scan returns an event of a former version in its newest version, as the feed says that it is", async () => {
  const { pool, log, close } = await openTestLog();
  const stored = {
    session_id: newId(),
    user_id: newId(),
    token_hash: "hash",
    expires_at: "2026-01-02T03:04:05.678Z",
  };
  await log.append(change(aStream(), { event: SessionStarted.of({ ...stored, epoch: 2 }) }));
  await pool.query("update log.events set shape = 1, data = $1", [JSON.stringify(stored)]);
  // the log that wrote the event still has it in memory
  const { events } = await openLog(pool, openKeyring(Buffer.alloc(32, 7))).scan(0, ["SessionStarted"], 10);
  await close();
  expect(events).toMatchObject([{ type: "SessionStarted", data: { ...stored, epoch: 1 } }]);
});

test("the log that wrote events follows them from memory, exactly as another one does from the database", async () => {
  const { pool, log, close } = await openTestLog();
  const another = openLog(pool, openKeyring(Buffer.alloc(32, 7)));
  const { stream, thing, event } = named("Bee");
  await log.append(change(stream, { event }));
  await log.append(change(aStream()));
  const stored = await another.follow(0, 10);
  const queries = vi.spyOn(pool, "query");
  expect(await log.follow(0, 10)).toEqual(stored);
  expect(queries).not.toHaveBeenCalled();
  expect(stored).toMatchObject([
    { position: 1, personal: { name: "Bee" } },
    { position: 2, personal: undefined },
  ]);

  const erasing = change(aStream());
  await log.append({ ...erasing, erase: { things: [thing], streams: [] } });
  expect(await log.follow(0, 1)).toMatchObject([{ position: 1, personal: undefined }]);
  await close();
});
