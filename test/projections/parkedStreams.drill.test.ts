import { describe, expect, test } from "vitest";
import type { RecordedEvent } from "#events/envelope.ts";
import { newId, streamName } from "#events/ids.ts";
import { rebuild } from "#infra/postgres/rebuild.ts";
import { projections } from "#projections/index.ts";
import { keys } from "#projections/keys/project.ts";
import { findKeyByHash } from "#projections/keys/query.ts";
import type { Projection } from "#projections/projection.ts";
import { getTurn } from "#projections/turns/query.ts";
import { KeyChanged } from "#events/key.ts";
import { TurnDeleted } from "#events/thread.ts";
import { fixture, keyCreated, message, turnStarted, type Fixture } from "./fixture.ts";

const parked = async (f: Fixture) =>
  (await f.pool.query("select projection, stream, position, error from log.parked order by 1, 2")).rows;
const withKeys = (change: Projection): Projection[] => projections.map((one) => (one.name === "keys" ? change : one));

describe("an event that a projection cannot apply", () => {
  test("parks its stream for that projection only, while others continue, until a rebuild", async () => {
    const f = await fixture();
    const [poisoned, healthy, turn] = [newId(), newId(), newId()];
    const broken = {
      ...keys,
      on: {
        ...keys.on,
        KeyChanged: (event: RecordedEvent) => {
          if (event.stream === streamName("key", poisoned)) throw new Error("cannot make sense of this");
          return keys.on.KeyChanged!(event);
        },
      },
    };
    const projector = f.runner(withKeys(broken));
    await projector.start();
    await f.append(streamName("key", poisoned), [keyCreated(poisoned, "poisoned")]);
    const at = await f.append(streamName("key", poisoned), [KeyChanged.of({ key_id: poisoned, enabled: false }, {})]);
    await f.append(streamName("key", healthy), [keyCreated(healthy, "healthy")]);
    await f.append(streamName("key", healthy), [KeyChanged.of({ key_id: healthy, enabled: false }, {})]);
    await f.append(streamName("thread", newId()), [turnStarted(turn, [message("goes on")])]);
    await f.append(streamName("key", poisoned), [KeyChanged.of({ key_id: poisoned }, { name: "skipped" })]);
    await f.followed();

    expect(await parked(f)).toEqual([
      {
        projection: "keys",
        stream: streamName("key", poisoned),
        position: at,
        error: expect.stringContaining("cannot make sense"),
      },
    ]);
    expect(await findKeyByHash(f.db, "poisoned")).toMatchObject({ parked: true, enabled: true, name: "a key" });
    expect(await findKeyByHash(f.db, "healthy")).toMatchObject({ parked: false, enabled: false });
    expect(await getTurn(f.db, f.organization, turn)).toMatchObject({ status: "running" });

    await rebuild({ pool: f.pool, log: f.log, projection: keys, logger: f.logger });
    expect(await parked(f)).toEqual([]);
    expect(await findKeyByHash(f.db, "poisoned")).toMatchObject({ parked: false, enabled: false, name: "skipped" });
    // the runner went on meanwhile and has noticed: it tries the stream again (and fails, as its code is still the broken one)
    const again = await f.append(streamName("key", poisoned), [KeyChanged.of({ key_id: poisoned }, { name: "tried" })]);
    await f.followed();
    expect(await parked(f)).toMatchObject([{ stream: streamName("key", poisoned), position: again }]);
  });

  test("parks its stream if PostgreSQL refuses its changes within a full batch", async () => {
    const f = await fixture();
    const ids = Array.from({ length: 40 }, newId);
    for (const [n, id] of ids.entries())
      await f.append(streamName("key", id), [keyCreated(id, n % 13 === 5 ? `nul \u0000 ${n}` : `hash ${n}`)]);
    await f.runner().start();
    await f.followed();
    const stuck = ids
      .filter((_, n) => n % 13 === 5)
      .map((id) => streamName("key", id))
      .sort();
    expect((await parked(f)).map((row) => row.stream).sort()).toEqual(stuck);
    const { rows } = await f.pool.query("select count(*)::integer as n from read.keys");
    expect(rows[0].n).toBe(ids.length - stuck.length);
    expect(await findKeyByHash(f.db, "hash 39")).toBeDefined();
  });

  test("parks its stream also for the events of the next batch, which was planned while it was written", async () => {
    const f = await fixture();
    const key = newId();
    const stream = streamName("key", key);
    const broken = {
      ...keys,
      on: {
        ...keys.on,
        KeyChanged: (event: RecordedEvent) => {
          if (event.version === 2) throw new Error("cannot make sense of this");
          return keys.on.KeyChanged!(event);
        },
      },
    };
    const projector = f.runner(withKeys(broken));
    await projector.start();
    await projector.stop();
    await f.append(stream, [keyCreated(key, "long")]);
    const at = await f.append(stream, [KeyChanged.of({ key_id: key, enabled: false }, {})]);
    const gone = Array.from({ length: 1_500 }, () => TurnDeleted.of({ turn_id: newId() }));
    await f.append(streamName("thread", newId()), gone);
    await f.append(stream, [KeyChanged.of({ key_id: key }, { name: "skipped" })]);
    await f.runner(withKeys(broken)).start();
    await f.followed();
    expect(await parked(f)).toMatchObject([{ projection: "keys", stream, position: at }]);
    expect(await findKeyByHash(f.db, "long")).toMatchObject({ parked: true, name: "a key" });
  });

  test("parks its stream for the projections that use it if it cannot be decrypted", async () => {
    const f = await fixture();
    const [damaged, fine] = [newId(), newId()];
    await f.append(streamName("key", damaged), [keyCreated(damaged, "damaged")]);
    await f.append(streamName("key", fine), [keyCreated(fine, "fine")]);
    await f.pool.query("update log.events set sealed = '\\x00' where stream = $1", [streamName("key", damaged)]);
    await f.runner(projections, f.anotherLog()).start();
    await f.followed();
    const stream = streamName("key", damaged);
    expect((await parked(f)).map(({ projection, stream }) => ({ projection, stream }))).toEqual([
      { projection: "keys", stream },
      { projection: "usage", stream },
    ]);
    expect(await findKeyByHash(f.db, "fine")).toMatchObject({ id: fine });
  });

  test("is not blamed for a missing table: no stream is parked, other projections continue, and this one catches up", async () => {
    const f = await fixture();
    await f.runner().start();
    await f.pool.query("alter table read.keys rename to keys_away");
    const [key, turn] = [newId(), newId()];
    await f.append(streamName("key", key), [keyCreated(key, "late")]);
    await f.append(streamName("thread", newId()), [turnStarted(turn, [message("not held up")])]);
    await expect.poll(() => getTurn(f.db, f.organization, turn)).toBeDefined();
    await f.pool.query("alter table read.keys_away rename to keys");
    await f.followed();
    expect(await parked(f)).toEqual([]);
    expect(await findKeyByHash(f.db, "late")).toMatchObject({ id: key });
  });
});
