import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { newId, streamOf } from "#events/ids.ts";
import { openTerm } from "#infra/postgres/term.ts";
import { rebuild } from "#infra/postgres/rebuild.ts";
import { projections } from "#projections/index.ts";
import { findKeyByHash } from "#projections/keys/query.ts";
import { createPassed } from "#projections/passed.ts";
import { getTurn, listMessages } from "#projections/turns/query.ts";
import { fixture, keyCreated, live, message, turnCompleted, turnStarted, type Fixture } from "./fixture.ts";

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
    "select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and objid = (hashtext('svc projector')::bigint & 4294967295)::oid and granted and database = (select oid from pg_database where datname = current_database())",
  );
  return rowCount ?? 0;
}

describe("following the log", () => {
  test("every kind of event ends in rows that equal a rebuild from zero", async () => {
    const f = await fixture();
    await f.runner().start();
    for (let n = 0; n < 40; n++) await live(f, n);
    await f.followed();
    await equalToRebuild(f);
  });

  test("one of two runners leads, and the other takes over when its connection is killed", async () => {
    const f = await fixture();
    const runners = [f.runner(), f.runner()];
    await Promise.all(runners.map((one) => one.start()));
    expect(runners.filter((one) => one.status().leading)).toHaveLength(1);
    for (let n = 0; n < 60; n++) {
      await live(f, n);
      if (n % 20 === 10) await expect.poll(() => killRunner(f), { timeout: 10_000 }).toBeGreaterThan(0);
    }
    await f.followed();
    await expect.poll(() => runners.filter((one) => one.status().leading).length, { timeout: 10_000 }).toBe(1);
    await equalToRebuild(f);
  });

  test("two terms that write at once cannot both move a checkpoint", async () => {
    const f = await fixture();
    const first = f.runner();
    await first.start();
    await first.stop();
    const terms = await Promise.all(
      [1, 2].map(async () => {
        const client = await f.pool.connect();
        const term = openTerm({ ...f, client, projections });
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

  test("only batches that change who may come in wait for the disk", async () => {
    const f = await fixture();
    await f.runner().start();
    await f.pool.query(`
      create table seen (position bigint, setting text);
      create function note() returns trigger language plpgsql as $$ begin
        insert into public.seen values (new.position, current_setting('synchronous_commit'));
        return new;
      end $$;
      create trigger note before update on log.checkpoints for each row execute function note()`);
    const key = newId();
    const commits = async (position: number) => {
      await f.followed();
      const { rows } = await f.pool.query("select distinct setting from seen where position = $1", [position]);
      return rows.map((row) => row.setting);
    };
    const turn = await f.append(streamOf("thread", newId()), [turnStarted(newId(), [message("hi")])]);
    expect(await commits(turn)).toEqual(["off"]);
    expect(await commits(await f.append(streamOf("key", key), [keyCreated(key, "hash")]))).toEqual(["on"]);
  });

  test("NUL, lone surrogates and quotes survive", async () => {
    const f = await fixture();
    await f.runner().start();
    const [turn, thread] = [newId(), newId()];
    const wild = 'nul \u0000 lone \ud800 and \udc00 pair 😀 "quoted" \\back\\ {brace} \n\t';
    await f.append(streamOf("thread", thread), [turnStarted(turn, [message(wild)]), turnCompleted(turn, wild)]);
    await f.followed();
    const row = await getTurn(f.db, f.organization, turn);
    expect(row).toMatchObject({ status: "completed", input: [message(wild)], said: { text: wild } });
    expect(await listMessages(f.db, f.organization, thread, "scope")).toMatchObject([
      { turn_id: turn, input: [message(wild)], answer: wild },
    ]);
  });

  test("read your own writes: passed answers by the checkpoints alone when every hint is lost", async () => {
    const f = await fixture({ dropHints: true });
    const passed = createPassed(f);
    const projector = f.runner();
    await projector.start();
    const id = newId();
    const position = await f.append(streamOf("key", id), [keyCreated(id, "some hash")]);
    expect(await passed(names, position, 10_000)).toBe(true);
    expect(await findKeyByHash(f.db, "some hash")).toMatchObject({
      id,
      organization_id: f.organization,
      parked: false,
    });
    await projector.stop();
    const unseen = await f.append(streamOf("key", newId()), [keyCreated(newId(), "other hash")]);
    expect(await passed(names, unseen, 200)).toBe(false);
  });

  test("a batch that reaches no read model still moves every checkpoint, and hints come as soon as it is written", async () => {
    const f = await fixture();
    const passed = createPassed({ ...f, db: { query: () => Promise.reject(new Error("hints are enough")) } });
    await f.runner([...projections]).start();
    const id = newId();
    const position = await f.append(streamOf("key", id), [keyCreated(id, "hinted")]);
    expect(await passed(names, position, 10_000)).toBe(true);
  });
});
