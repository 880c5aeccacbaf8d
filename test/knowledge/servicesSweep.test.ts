import { expect, test } from "vitest";
import { newId, parseStreamName } from "#events/ids.ts";
import { openKeyring } from "#infra/keyring.ts";
import { openLog } from "#infra/postgres/log.ts";
import { openPool } from "#infra/postgres/pool.ts";
import { testDatabase } from "../harness.ts";

/* Which open work the sweep gets when there is a backlog. */

interface Head {
  aggregate: string;
  organization_id?: string;
  status: string;
  /** Seconds from now; none without a due time. */
  due?: number;
  worker?: string | null;
}

async function logWith(heads: Head[]) {
  const { url } = await testDatabase();
  const pool = openPool(url, { max: 2, name: "sweep test" });
  await pool.query(
    "insert into ops.workers (worker, role, beat_at) values ('me', 'all', now()), ('other', 'all', now())",
  );
  for (const [n, { aggregate, organization_id = newId(), status, due, worker = null }] of heads.entries())
    await pool.query(
      `insert into log.streams (stream, organization_id, version, position, state, state_version, status, due_at, worker)
       values ($1, $2, 1, $3, '{}', 1, $4, now() + make_interval(secs => $5), $6)`,
      [`${aggregate}-${newId()}`, organization_id, n + 1, status, due ?? null, worker],
    );
  const log = openLog(pool, openKeyring(Buffer.alloc(32, 1)));
  const seen = (busy: string[] = [], worker = "me") => log.openWork({ worker, busy, now: new Date(), limit: 10 });
  const silence = (worker: string, seconds: number) =>
    pool.query(
      `insert into ops.workers (worker, role, beat_at) values ($1, 'services', now() - make_interval(secs => $2))
       on conflict (worker) do update set beat_at = excluded.beat_at`,
      [worker, seconds],
    );
  return { url, seen, silence, log, close: () => pool.end() };
}
const many = (n: number, head: Head): Head[] => Array.from({ length: n }, () => head);

test("the sweep gets work of every kind even if one kind has a backlog", async () => {
  const { seen, close } = await logWith([
    ...many(30, { aggregate: "extraction", status: "waiting", due: -60 }),
    ...many(30, { aggregate: "document", status: "pending", worker: "dead" }),
    { aggregate: "thread", status: "running", due: 600, worker: "dead" },
  ]);
  const kinds = Map.groupBy(await seen(), ({ stream }) => parseStreamName(stream).aggregate);
  expect(Object.fromEntries([...kinds].map(([kind, heads]) => [kind, heads.length]))).toEqual({
    extraction: 10,
    document: 10,
    thread: 1,
  });
  await close();
});

test("the sweep gets work of every organization even if one has a backlog", async () => {
  const [large, small] = [newId(), newId()];
  const { seen, close } = await logWith([
    ...many(30, { aggregate: "document", organization_id: large, status: "pending" }),
    ...many(2, { aggregate: "document", organization_id: small, status: "pending" }),
  ]);
  const theirs = (await seen()).filter(({ organization_id }) => organization_id === small);
  expect(theirs).toHaveLength(2);
  await close();
});

test("work of many organizations that stays due, or stays open, hides nothing that others wait for", async () => {
  const stuck = [...many(12, { aggregate: "trigger", status: "waiting", due: -60 })];
  const { seen, log, close } = await logWith([
    ...stuck,
    { aggregate: "trigger", status: "waiting", due: -2 },
    ...many(12, { aggregate: "erasure", status: "erasing" }),
  ]);
  expect((await seen()).map(({ position }) => position)).toContain(stuck.length + 1);
  // each comes first at some time
  const at = (seconds: number) => new Date(Date.now() + 1_000 * seconds);
  const found = new Set<string>();
  for (let n = 0; n < 20; n++)
    for (const { stream } of await log.openWork({ worker: "me", busy: [], now: at(10 * n), limit: 10 }))
      found.add(stream);
  expect(found.size).toBe(25);
  await close();
});

test("the sweep gets waiting work when it is due, but not work of a live worker or of this process", async () => {
  const { seen, close } = await logWith([
    { aggregate: "extraction", status: "waiting", due: 60 },
    { aggregate: "extraction", status: "waiting", due: -1 },
    { aggregate: "document", status: "processing", worker: "other" },
    { aggregate: "document", status: "processing", worker: "me" },
  ]);
  const shown = await seen();
  expect(shown.map(({ position }) => position)).toEqual([2, 4]);
  const busy = shown.find(({ worker }) => worker === "me")!.stream;
  expect((await seen([busy])).map(({ position }) => position)).toEqual([2]);
  await close();
});

test("the processes share work that has just become due, and leave none behind", async () => {
  const { seen, close } = await logWith(many(8, { aggregate: "trigger", status: "waiting", due: -0.1 }));
  const streams = async (worker: string) => (await seen([], worker)).map(({ stream }) => stream);
  const [mine, others] = [await streams("me"), await streams("other")];
  expect(new Set([...mine, ...others]).size).toBe(8);
  expect(mine.length + others.length).toBe(8);
  await expect.poll(async () => (await streams("me")).length).toBe(8);
  await close();
});

test("work of a process is taken over after 10 s of silence, or 5 s if its connections have ended", async () => {
  const silences = { busy: 3, stopped: 6, hung: 11, killed: 6 };
  const workers = Object.keys(silences);
  const sweep = await logWith(workers.map((worker) => ({ aggregate: "document", status: "pending", worker })));
  const [busy, stopped, hung, killed] = workers.map((name) => openPool(sweep.url, { max: 1, name }));
  await Promise.all([busy, stopped, hung, killed].map((pool) => pool!.query("select 1")));
  // each is as silent at every look, however long the machine takes
  const look = async <T>(read: () => Promise<T>): Promise<T> => {
    for (const [worker, seconds] of Object.entries(silences)) await sweep.silence(worker, seconds);
    return read();
  };
  const lost = () => look(async () => (await sweep.seen()).map(({ worker }) => worker).toSorted());
  expect(await lost()).toEqual(["hung"]);

  await Promise.all([busy!.end(), killed!.end()]);
  // a database server that started less than 10 s ago may not have seen the connections yet
  await expect.poll(lost).toEqual(["hung", "killed"]);
  expect(await look(() => Promise.all(workers.map(sweep.log.hasDied)))).toEqual([false, false, true, true]);
  await Promise.all([stopped!.end(), hung!.end(), sweep.close()]);
});
