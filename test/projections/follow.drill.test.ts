import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { newId, streamName } from "#events/ids.ts";
import { openLogFollower } from "#infra/postgres/logFollower.ts";
import { rebuild } from "#infra/postgres/rebuild.ts";
import { projections } from "#projections/index.ts";
import { findKeyByHash } from "#projections/keys/query.ts";
import { trackProgress } from "#projections/progress.ts";
import { getTurn } from "#projections/turns/query.ts";
import { listTurns } from "#projections/turns/threadTurns.ts";
import {
  fixture,
  keyCreated,
  live,
  message,
  noteFlushes,
  turnCompleted,
  turnStarted,
  type Fixture,
} from "./fixture.ts";

const names = projections.map((one) => one.name);

async function equalToRebuild(f: Fixture): Promise<void> {
  const before = await f.hashes();
  for (const projection of projections) await rebuild({ pool: f.pool, log: f.log, projection, logger: f.logger });
  expect(await f.hashes()).toEqual(before);
  expect(Object.values(before).filter((hash) => hash !== "")).not.toEqual([]);
}

/** Ends the session that holds the runner's lock. */
async function killRunner(f: Fixture): Promise<number> {
  const { rowCount } = await f.pool.query(
    "select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and objsubid = 2 and objid = (hashtext('projector')::bigint & 4294967295)::oid and granted and database = (select oid from pg_database where datname = current_database())",
  );
  return rowCount ?? 0;
}

describe("following the log", () => {
  test("leads to rows that equal a rebuild from the start, for every kind of event", async () => {
    const f = await fixture();
    await f.runner().start();
    for (let n = 0; n < 40; n++) await live(f, n);
    await f.followed();
    await equalToRebuild(f);
  });

  test("is done by one of two runners, and by the other if the connection of the first is killed", async () => {
    const f = await fixture();
    const runners = [f.runner(), f.runner()];
    await Promise.all(runners.map((one) => one.start()));
    expect(runners.filter((one) => one.status().leading)).toHaveLength(1);
    for (let n = 0; n < 60; n++) {
      await live(f, n);
      if (n % 20 === 10) await expect.poll(() => killRunner(f)).toBeGreaterThan(0);
    }
    await f.followed();
    await expect.poll(() => runners.filter((one) => one.status().leading).length).toBe(1);
    await equalToRebuild(f);
  });

  test("by two runners at once moves a checkpoint only once", async () => {
    const f = await fixture();
    const first = f.runner();
    await first.start();
    await first.stop();
    const terms = await Promise.all(
      [1, 2].map(async () => {
        const client = await f.pool.connect();
        const term = openLogFollower({ ...f, client, projections });
        await term.load();
        return { client, term };
      }),
    );
    let over = false;
    const following = terms.map(async ({ term }) => {
      while (!over) if (!(await term.step())) await sleep(1);
    });
    await Promise.all(
      Array.from({ length: 4 }, async (_, w) => {
        for (let n = 0; n < 30; n++) await live(f, n + w);
      }),
    );
    await f.followed();
    over = true;
    await Promise.all(following);
    for (const { client } of terms) client.release();
    await equalToRebuild(f);
  });

  test("flushes only the batches that change durable read models", async () => {
    const f = await fixture();
    await f.runner().start();
    const commits = await noteFlushes(f);
    const key = newId();
    const turn = await f.append(streamName("thread", newId()), [turnStarted(newId(), [message("hi")])]);
    expect(await commits(turn)).toEqual(["off"]);
    expect(await commits(await f.append(streamName("key", key), [keyCreated(key, "hash")]))).toEqual(["on"]);
  });

  test("keeps NUL characters, lone surrogates and quotes", async () => {
    const f = await fixture();
    await f.runner().start();
    const [turn, thread] = [newId(), newId()];
    const wild = 'nul \u0000 lone \ud800 and \udc00 pair 😀 "quoted" \\back\\ {brace} \n\t';
    await f.append(streamName("thread", thread), [turnStarted(turn, [message(wild)]), turnCompleted(turn, wild)]);
    await f.followed();
    const row = await getTurn(f.db, f.organization, turn);
    expect(row).toMatchObject({ status: "completed", input: [message(wild)], said: { text: wild } });
    expect(await listTurns(f.db, f.organization, thread, "scope")).toMatchObject([
      { turn_id: turn, input: [message(wild)], said: { text: wild } },
    ]);
  });

  test("lets a writer wait for its own write by the checkpoints alone if all hints are lost", async () => {
    const f = await fixture({ dropHints: true });
    const passed = trackProgress(f).waitFor;
    const projector = f.runner();
    await projector.start();
    const id = newId();
    const position = await f.append(streamName("key", id), [keyCreated(id, "some hash")]);
    expect(await passed(names, position, 10_000)).toBe(true);
    expect(await findKeyByHash(f.db, "some hash")).toMatchObject({
      id,
      organization_id: f.organization,
      parked: false,
    });
    await projector.stop();
    const unseen = await f.append(streamName("key", newId()), [keyCreated(newId(), "other hash")]);
    expect(await passed(names, unseen, 200)).toBe(false);
  });

  test("moves every checkpoint even for a batch without changes, and sends hints as soon as it is written", async () => {
    const f = await fixture();
    const passed = trackProgress({ ...f, db: { query: () => Promise.reject(new Error("hints are enough")) } }).waitFor;
    await f.runner([...projections]).start();
    const id = newId();
    const position = await f.append(streamName("key", id), [keyCreated(id, "hinted")]);
    expect(await passed(names, position, 10_000)).toBe(true);
  });
});
