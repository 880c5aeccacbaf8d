import pg from "pg";
import { afterAll, expect, test } from "vitest";
import { newId } from "#events/ids.ts";
import { countNextEvents } from "#infra/postgres/logBytes.ts";
import type { Db } from "#projections/projection.ts";
import { aStream, change, named, openTestLog } from "./log.ts";

/* What events take is counted exactly once, by any number of processes, also if one is killed. */

const testLog = await openTestLog();
afterAll(() => testLog.close());

const ORGANIZATIONS = [newId(), newId(), newId()];

/** Appends events of three organizations, some with sealed fields. */
async function append(count: number): Promise<void> {
  for (let n = 0; n < count; n++) {
    const organization = ORGANIZATIONS[n % ORGANIZATIONS.length]!;
    const { stream, ...event } = n % 2 ? named("A name of some length ".repeat(n)) : { stream: aStream() };
    await testLog.log.append(change(stream, { organization, ...event }));
  }
}

/** Counts in slices of three positions until nothing is left. */
async function countAll(db: Db): Promise<number> {
  let slices = 1;
  while (await countNextEvents(db, 3)) slices++;
  return slices;
}

async function expectCounted(): Promise<void> {
  const { rows: counted } = await testLog.pool.query(
    "select organization_id, bytes from ops.log_bytes order by organization_id",
  );
  const { rows } = await testLog.pool.query(
    `select organization_id,
       sum(octet_length(meta) + octet_length(data) + coalesce(octet_length(sealed), 0) + 500) as bytes
     from log.events group by 1 order by 1`,
  );
  expect(rows.length).toBe(ORGANIZATIONS.length);
  expect(counted).toEqual(rows);
}

test("an existing log is counted in slices, and a log without new events not again", async () => {
  await append(20);
  expect(await countAll(testLog.db)).toBe(7);
  await expectCounted();
  expect(await countNextEvents(testLog.db)).toBe(false);
  await expectCounted();
});

test("a long output of a tool counts, although it is stored outside of the log", async () => {
  const own = await openTestLog();
  const append = (type: string, data: object) =>
    own.pool.query(
      `with moved as (update log.head set position = position + 1 returning position)
       insert into log.events (position, stream, version, organization_id, type, shape, command_id, recorded_at, meta, data, hash)
       select position, 'thread-' || position, 1, $1, $2, 1, position, now(), '{}', $3, '' from moved`,
      [ORGANIZATIONS[0], type, JSON.stringify(data)],
    );
  const bytes = async () => {
    await countAll(own.db);
    return Number((await own.pool.query("select bytes from ops.log_bytes")).rows[0].bytes);
  };
  const call = { name: 'a tool of the name "stored_bytes":7', status: "completed" };
  await append("ToolFinished", call);
  const one = await bytes();
  expect(one).toBeLessThan(1_000);
  await append("ToolFinished", { ...call, stored_bytes: 1_000_000 });
  expect(Math.round((await bytes()) / 1_000)).toBe(Math.round((1_000_000 + 2 * one) / 1_000));
  // those of a turn count with the files
  await append("TurnStarted", { stored_bytes: 1_000_000 });
  expect(await bytes()).toBeLessThan(1_000_000 + 4 * one);
  await own.close();
});

test("two processes that count at the same time, while others append, count each event once", async () => {
  await append(20);
  await Promise.all([countAll(testLog.db), append(20), countAll(testLog.db), countAll(testLog.db)]);
  await countAll(testLog.db);
  await expectCounted();
});

test("what a process had counted when it was killed before its commit is counted by another one", async () => {
  await append(10);
  const killed = new pg.Client({ connectionString: testLog.url });
  killed.on("error", () => {});
  await killed.connect();
  await killed.query("begin");
  const [{ pid }] = (await killed.query("select pg_backend_pid() as pid")).rows;
  const its: Db = { query: async (text, values) => (await killed.query(text, values)).rows };
  expect(await countNextEvents(its, 6)).toBe(true);
  const other = countAll(testLog.db);
  await testLog.pool.query("select pg_terminate_backend($1)", [pid]);
  await other;
  await expectCounted();
  await killed.end().catch(() => {});
});
