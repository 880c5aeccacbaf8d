import { expect, test } from "vitest";
import { parseStreamName } from "#events/ids.ts";
import { openIndexRegistry } from "#infra/postgres/indexRegistry.ts";
import { rebuildPassages } from "../../cli/projections/passages.ts";
import { SOON } from "../soon.ts";
import { pollTypes, READY } from "./documents.ts";
import { followerBench } from "./follower.ts";

/* Organizations that share the follower that writes the passage index. */

test("of many documents an organization gets a share of each round, others do not wait, and a restart loses none", async () => {
  const MANY = 120;
  const puts: string[][] = [];
  const places: number[] = [];
  const bench = await followerBench((real) => ({
    shareOfRound: 10,
    index: {
      ...real,
      async put(uid, passages) {
        places.push(await place());
        puts.push(passages.map(({ document_id }) => document_id));
        // the process is lost between its second and third round
        if (puts.length === 2) bench.stop();
        return real.put(uid, passages);
      },
    },
  }));
  const { opened, index, read, follow, stop } = bench;
  const place = async () => (await openIndexRegistry(opened.pool).status()).position;
  const many = await Promise.all(Array.from({ length: MANY }, (_, n) => read(`The text of document ${n}.`)));
  const other = await read("The only one.", bench.openOther());
  await follow();
  // documents of one passage are loaded fifty at a time
  expect(puts.map(({ length }) => length)).toEqual([51, 50]);
  expect(puts[0]).toContain(other.document_id);
  const put = new Set(puts.flat());
  const { events } = await opened.log.scan(0, ["DocumentRead"], MANY + 1);
  const firstLeft = events.find(({ stream }) => !put.has(parseStreamName(stream).id))!;
  expect(await place()).toBeLessThan(firstLeft.position);

  const following = follow();
  for (const { stream } of [...many, other]) await pollTypes(opened, stream).toEqual(READY);
  await expect.poll(async () => (await index.passages()).length, SOON).toBe(MANY + 1);
  const last = (await opened.log.scan(0, ["DocumentIndexed"], MANY + 1)).events.at(-1)!.position;
  await expect.poll(place, SOON).toBeGreaterThanOrEqual(last);
  expect(places).toEqual(places.toSorted((a, b) => a - b));
  stop();
  await following;
});

test("beyond what the follower holds in memory only the organization with the most waits, and a restart loses none", async () => {
  const MANY = 120;
  const puts: string[][] = [];
  const bench = await followerBench((real) => ({
    shareOfRound: 10,
    maxPending: 20,
    index: {
      ...real,
      async put(uid, passages) {
        puts.push(passages.map(({ document_id }) => document_id));
        // the process is lost after its second round
        if (puts.length === 2) bench.stop();
        return real.put(uid, passages);
      },
    },
  }));
  const { opened, index, read, follow, stop } = bench;
  const many = await Promise.all(Array.from({ length: MANY }, (_, n) => read(`The text of document ${n}.`)));
  const other = await read("The only one.", bench.openOther());
  await follow();
  expect(puts[0]).toContain(other.document_id);
  expect(puts[0]!.length).toBeLessThanOrEqual(21);

  const following = follow();
  for (const { stream } of [...many, other]) await pollTypes(opened, stream).toEqual(READY);
  await expect.poll(async () => (await index.passages()).length, SOON).toBe(MANY + 1);
  const last = (await opened.log.scan(0, ["DocumentIndexed"], MANY + 1)).events.at(-1)!.position;
  const place = async () => (await openIndexRegistry(opened.pool).status()).position;
  await expect.poll(place, SOON).toBeGreaterThanOrEqual(last);
  stop();
  await following;
});

test("a new index is built in rounds, between which changes of the serving one have their turn", async () => {
  const sent: [number, number][] = [];
  const bench = await followerBench((real) => ({
    passagesOfRound: 10,
    index: {
      ...real,
      put: async (uid, passages) => {
        const changes = await real.put(uid, passages);
        if (serving && uid !== serving) sent.push([passages.length, changes.at(-1)!]);
        return changes;
      },
      waitFor: async (changes) => {
        const results = await real.waitFor(changes);
        if (sent.some(([, change]) => changes.includes(change))) waits.push(sent.length);
        return results;
      },
    },
  }));
  const waits: number[] = [];
  let serving = "";
  const { opened, index, read, follow, stop } = bench;
  const leader = await opened.pool.connect();
  await leader.query("select pg_advisory_lock(hashtext('svc'), hashtext('passages'))");
  const documents = await Promise.all(Array.from({ length: 120 }, (_, n) => read(`The text of document ${n}.`)));
  const following = follow();
  for (const { stream } of documents) await pollTypes(opened, stream).toEqual(READY);
  serving = (await index.serving())!;
  expect(await rebuildPassages(opened.db, () => {})).toMatchObject({ serves: true });
  // documents of one passage are loaded fifty at a time
  expect(sent.map(([passages]) => passages)).toEqual([50, 50, 20]);
  expect(waits).toEqual([1, 2, 3]);
  expect(await index.passages()).toHaveLength(120);
  leader.release(true);
  stop();
  await following;
});
