import type pg from "pg";
import { expect, test } from "vitest";
import { newId, streamName } from "#events/ids.ts";
import { NO_USAGE, RoundRequested, ThreadDeleted, ToolFinished, TurnDeleted } from "#events/thread.ts";
import { openPool } from "#infra/postgres/pool.ts";
import { getTurn } from "#projections/turns/query.ts";
import { listTurns } from "#projections/turns/threadTurns.ts";
import { fixture, live, message, said, turnCompleted, turnStarted, type Fixture } from "./fixture.ts";

/** Rows added to each table: so many that a full read of one is noticeable. */
const ROWS = 5_000;
/** They have one row for each process, read model or index. */
const SMALL = new Set([
  "log.head",
  "log.checkpoints",
  "ops.search_index",
  "ops.index_builds",
  "ops.scrubs",
  "ops.workers",
  "ops.bus",
  "log.numbered_cursors",
  "ops.log_bytes_counted",
]);

const TABLES = `
  select c.oid::regclass::text as name, json_object_agg(a.attname, format_type(a.atttypid, null)) as types,
    (select json_agg(k.attname) from pg_index i join pg_attribute k on k.attrelid = c.oid and k.attnum = any (i.indkey)
     where i.indrelid = c.oid and i.indisunique) as identity
  from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
  where c.relnamespace = any ('{log,read,ops}'::regnamespace[]) and c.relkind = 'r' group by c.oid`;
const END_OTHERS = `
  select pg_terminate_backend(pid) from pg_stat_activity
  where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`;
const READ = `
  select relid::regclass::text as name, seq_tup_read + coalesce(idx_tup_fetch, 0) as read from pg_stat_user_tables`;

interface Table {
  name: string;
  types: Record<string, string>;
  identity: string[] | null;
}

const OTHER_VALUES: Record<string, string> = {
  uuid: "gen_random_uuid()",
  text: "gen_random_uuid()",
  // below those of real events, so that no follower reads them
  bigint: "-n",
  integer: "n",
};

/** Copies one row of a table many times, with other ids. */
async function fill(pool: pg.Pool, { name, types, identity }: Table): Promise<void> {
  const changes = Object.entries(types)
    .filter(([column, type]) => type === "uuid" || identity?.includes(column))
    .map(([column, type]) => `'${column}', ${OTHER_VALUES[type]}`);
  changes.push("'n', n");
  await pool.query(`
    insert into ${name} select copy.* from (select * from ${name} limit 1) one, generate_series(1, ${ROWS}) n,
      jsonb_populate_record(null::${name}, to_jsonb(one) || jsonb_build_object(${changes.join(", ")})) copy`);
}

/** The statements of daily work: appends and look-ups of every kind, turns with tools, deletions, read models, queries of them. PostgreSQL keeps a plan from the sixth execution on. */
async function work(f: Fixture): Promise<void> {
  for (let n = 0; n < 7; n++) {
    await live(f, n);
    const [turn_id, thread_id] = [newId(), newId()];
    const stream = streamName("thread", thread_id);
    await f.append(stream, [turnStarted(turn_id, [message("question")], "user")]);
    const attempt = { turn_id, attempt: 1, round: 0 };
    const call = { id: "call", name: "web_search", arguments: "{}" };
    await f.append(stream, [
      RoundRequested.of({ ...attempt, usage: NO_USAGE }, { ...said(""), calls: [call] }),
      ToolFinished.of(
        { ...attempt, call: 0, name: call.name, status: "completed", duration_ms: 1 },
        { output: { text: "" }, sources: [] },
      ),
    ]);
    await f.append(stream, [turnCompleted(turn_id, "answer")]);
    await f.followed();
    await f.log.read(stream);
    await getTurn(f.db, f.organization, turn_id);
    await listTurns(f.db, f.organization, thread_id, "user");
    if (n % 3 === 0) await f.append(stream, [TurnDeleted.of({ turn_id })], { things: [streamName("turn", turn_id)] });
    if (n % 3 === 1) await f.append(stream, [ThreadDeleted.of({})], { streams: [stream] });
    await f.followed();
  }
}

/** Rows read so far by table. Sessions report what they have read when they end, so all others are ended first. */
async function endSessionsAndCount(f: Fixture): Promise<Map<string, number>> {
  const pool = openPool(f.url, { max: 1, name: "test statistics" });
  const end = async () => (await pool.query(END_OTHERS)).rowCount;
  await expect.poll(end).toBe(0);
  const { rows } = await pool.query<{ name: string; read: number }>(READ);
  await pool.end();
  return new Map(rows.map(({ name, read }) => [name, read]));
}

test("no statement of daily work scans a whole table if tables grow after it was prepared", async () => {
  const f = await fixture();
  const runner = f.runner();
  await runner.start();
  const growing = (await f.pool.query<Table>(TABLES)).rows.filter(({ name }) => !SMALL.has(name));
  // new statistics would replace the plans that are tested
  for (const { name } of growing) await f.pool.query(`alter table ${name} set (autovacuum_enabled = off)`);
  await work(f);
  for (const table of growing) await fill(f.pool, table);
  await work(f);
  await runner.stop();
  const read = await endSessionsAndCount(f);
  expect([...read].filter(([name, rows]) => rows > ROWS / 2 && !SMALL.has(name))).toEqual([]);
  expect(read.get("read.turns")).toBeGreaterThan(0);
});

test("the projector analyzes the tables when the log has grown past a threshold", async () => {
  const f = await fixture();
  await f.runner().start();
  const stream = streamName("thread", newId());
  await f.append(
    stream,
    Array.from({ length: 1_000 }, () => TurnDeleted.of({ turn_id: newId() })),
  );
  await expect
    .poll(async () => (await f.pool.query("select reltuples from pg_class where oid = 'log.events'::regclass")).rows[0])
    .toEqual({ reltuples: 1_000 });
  const analyzed = "select attname from pg_stats where schemaname = 'log' and tablename = 'events' order by attname";
  await expect
    .poll(async () => (await f.pool.query<{ attname: string }>(analyzed)).rows.map(({ attname }) => attname))
    .toEqual(["meta", "organization_id", "position", "stream", "version"]);
});
