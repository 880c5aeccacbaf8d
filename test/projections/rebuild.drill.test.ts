import { describe, expect, test } from "vitest";
import { newId, streamName } from "#events/ids.ts";
import type { EventLog } from "#events/ports.ts";
import { rebuild } from "#infra/postgres/rebuild.ts";
import { projections } from "#projections/index.ts";
import { findKeyByHash, listKeys } from "#projections/keys/query.ts";
import { keys } from "#projections/keys/project.ts";
import type { Projection } from "#projections/projection.ts";
import { turns } from "#projections/turns/project.ts";
import { getTurn } from "#projections/turns/query.ts";
import { listTurns, threadExists } from "#projections/turns/threadTurns.ts";
import { fixture, keyCreated, live, message, turnCompleted, turnStarted, type Fixture } from "./fixture.ts";

const again = (f: Fixture, projection = keys) => rebuild({ pool: f.pool, log: f.log, projection, logger: f.logger });
const builds = async (f: Fixture) => {
  const { rows } = await f.pool.query<{ name: string; build: number }>("select name, build from log.checkpoints");
  return Object.fromEntries(rows.map((row) => [row.name, row.build]));
};

describe("rebuilding a read model next to the serving one", () => {
  test("answers every query under load, and ends with the same rows as a rebuild without load", async () => {
    const f = await fixture();
    await f.runner().start();
    const [key, thread, turn] = [newId(), newId(), newId()];
    await f.append(streamName("key", key), [keyCreated(key, "queries for")]);
    await f.append(streamName("thread", thread), [turnStarted(turn, [message("hello")]), turnCompleted(turn, "hi")]);
    for (let n = 0; n < 20; n++) await live(f, n);
    await f.followed();

    let over = false;
    let queries = 0;
    const whileBusy = async (work: (n: number) => Promise<unknown>) => {
      for (let n = 0; !over; n++) await work(n);
    };
    // named prepared statements on several connections, plain ones, and a query over several tables
    const load = [
      ...[1, 2, 3].map(() =>
        whileBusy(async () => {
          expect(await findKeyByHash(f.db, "queries for")).toMatchObject({ id: key });
          expect((await listKeys(f.db, f.organization, { limit: 5, offset: 0 })).total).toBeGreaterThan(0);
          expect(await getTurn(f.db, f.organization, turn)).toMatchObject({ status: "completed" });
          expect(await threadExists(f.db, f.organization, thread, "scope")).toBe(true);
          expect(await listTurns(f.db, f.organization, thread, "scope")).toHaveLength(1);
          queries++;
        }),
      ),
      whileBusy(async () => {
        await f.pool.query(
          "select count(*) from read.turns t left join read.keys k on k.id = t.id left join read.users u on u.id = k.id",
        );
      }),
      whileBusy((n) => live(f, n)),
    ];
    for (let n = 0; n < 4; n++) {
      const before = queries;
      await Promise.all([again(f, turns), again(f, keys)]);
      await expect.poll(() => queries).toBeGreaterThan(before);
    }
    over = true;
    await Promise.all(load);
    await f.followed();
    const before = await f.hashes();
    await again(f, turns);
    await again(f, keys);
    expect(await f.hashes()).toEqual(before);
    expect(await builds(f)).toMatchObject({ turns: 7, keys: 7, files: 2 });
    expect((await f.pool.query("select from pg_namespace where nspname like 'rebuild_%'")).rowCount).toBe(0);
  });

  test("waits for another rebuild, and both succeed", async () => {
    const f = await fixture();
    await f.runner().start();
    for (let n = 0; n < 10; n++) await live(f, n);
    await f.followed();
    const before = await f.hashes();
    await Promise.all([again(f), again(f), again(f)]);
    expect(await f.hashes()).toEqual(before);
    expect((await builds(f)).keys).toBe(5);
  });

  test("happens before a raised version is followed, while other read models continue", async () => {
    const f = await fixture();
    const first = f.runner();
    await first.start();
    const id = newId();
    await f.append(streamName("key", id), [keyCreated(id, "old")]);
    await f.followed();
    await first.stop();
    const raised: Projection = {
      ...keys,
      version: keys.version + 1,
      on: {
        ...keys.on,
        KeyCreated: (event) =>
          keys.on.KeyCreated!(event).map((put) =>
            put.kind === "put" ? { ...put, row: { ...put.row, key_hint: "new!" } } : put,
          ),
      },
    };
    await f.runner(projections.map((one) => (one.name === "keys" ? raised : one))).start();
    expect(await findKeyByHash(f.db, "old")).toMatchObject({ key_hint: "new!" });
    const { rows } = await f.pool.query("select version, build from log.checkpoints where name = 'keys'");
    expect(rows).toEqual([{ version: raised.version, build: 3 }]);
    const later = newId();
    await f.append(streamName("key", later), [keyCreated(later, "later")]);
    await f.followed();
    expect(await findKeyByHash(f.db, "later")).toMatchObject({ key_hint: "new!" });
  });

  test("leaves the serving one unchanged if it fails, and succeeds the next time", async () => {
    const f = await fixture();
    await f.runner().start();
    for (let n = 0; n < 10; n++) await live(f, n);
    await f.followed();
    const before = await f.hashes();
    // it believes to be at the head, and breaks off within the swap
    const cut: Pick<EventLog, "follow"> = {
      follow: (after) => (after === 0 ? f.log.follow(0, 5) : Promise.reject(new Error("cut"))),
    };
    const stop = new AbortController();
    const broken = rebuild({
      pool: f.pool,
      log: cut,
      projection: keys,
      logger: f.logger,
      signal: stop.signal,
      onProgress: () => stop.abort(),
    });
    await expect(broken).rejects.toThrow();
    expect(await f.hashes()).toEqual(before);
    await again(f);
    expect(await f.hashes()).toEqual(before);
  });
});
