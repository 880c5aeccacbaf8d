import { expect, test } from "vitest";
import { openIndexRegistry } from "#infra/postgres/indexRegistry.ts";
import { rebuildPassages } from "../../cli/projections/passages.ts";
import { startPlatform } from "../platform.ts";
import { SOON } from "../soon.ts";
import { openKnowledge, pollTypes, READY, searchServer } from "./documents.ts";
import { followerBench } from "./follower.ts";

/* The follower that writes the passage index: with refused writes, crashes, a lost index, and an index rebuilt on request. */

test("a document that the search server refuses, or whose blob cannot be opened, fails without affecting others", async () => {
  const { opened, index, errors, read, follow, stop } = await followerBench((real) => ({
    index: {
      ...real,
      put: (uid, passages) =>
        real.put(
          uid,
          passages.map((one) => (one.text === "poison" ? { ...one, document_id: "no id!" } : one)),
        ),
    },
  }));
  const [good, bad, torn] = [await read("good"), await read("poison"), await read("torn")];
  await opened.blobs.remove(torn.named.passages);
  const following = follow();
  await pollTypes(opened, good.stream).toEqual(READY);
  for (const { stream } of [bad, torn])
    await pollTypes(opened, stream).toEqual([...READY.slice(0, 3), "IndexingFailed"]);
  expect(await index.passages()).toEqual([`${good.document_id}_1_0`]);
  expect(errors.map(String)).toContainEqual(expect.stringContaining("invalid_document_id"));
  const later = await read("later");
  await pollTypes(opened, later.stream).toEqual(READY);
  stop();
  await following;
});

test("an unreachable search server and a follower that crashes at any point lose no document and record no event twice", async () => {
  const points: string[] = [];
  let away = 4;
  const { opened, index, read, follow, stop } = await followerBench((real) => ({
    index: {
      ...real,
      put: (uid, passages) => (away-- > 0 ? Promise.reject(new Error("away")) : real.put(uid, passages)),
    },
    failpoint(name) {
      if (points.includes(name)) return;
      points.push(name);
      throw new Error(`broken off ${name}`);
    },
  }));
  const documents = await Promise.all(["one", "two", "three"].map((text) => read(text)));
  const following = follow();
  for (const { stream } of documents) await pollTypes(opened, stream).toEqual(READY);
  await expect.poll(async () => (await index.passages()).length, SOON).toBe(3);
  expect(points).toEqual(["after-passages-put", "after-indexed"]);
  const place = async () => (await openIndexRegistry(opened.pool).status()).position;
  const last = (await opened.log.scan(0, ["DocumentIndexed"], 10)).events.at(-1)!.position;
  await expect.poll(place, SOON).toBeGreaterThanOrEqual(last);
  await openIndexRegistry(opened.pool).advance(1);
  expect(await place()).toBeGreaterThanOrEqual(last);
  stop();
  await following;
});

test("a renamed document is updated in the index, and a deleted one is removed", async () => {
  const { resources: opened } = await startPlatform();
  const { upload, ask, remove } = openKnowledge(opened);
  const server = searchServer(opened);
  const { document_id, stream } = await upload("The heron waits.", { name: "first.md" });
  await pollTypes(opened, stream).toEqual(READY);
  await ask(stream, "ChangeDocument", { document_id, name: "second.md" });
  const titles = async () => (await server.fields("title")).map(({ title }) => title);
  await expect.poll(titles, SOON).toEqual(["second.md"]);
  await remove(document_id);
  await expect.poll(server.passages, SOON).toEqual([]);
});

test("a document whose vectors the server did not remove is removed again", async () => {
  /** The server knows no change of this number, so that it counts as failed. */
  const unknown = 4_000_000_000;
  let removals = 0;
  const { opened, index, errors, knowledge, read, follow, stop } = await followerBench((real) => ({
    index: {
      ...real,
      async remove(uid, superseded) {
        const changes = await real.remove(uid, superseded);
        removals += 1;
        return removals === 1 ? [unknown, ...changes] : changes;
      },
    },
  }));
  const following = follow();
  const { document_id, stream } = await read("gone");
  await pollTypes(opened, stream).toEqual(READY);
  await knowledge.remove(document_id);
  await expect.poll(() => removals, SOON).toBe(2);
  expect(errors.map(String)).toContainEqual(expect.stringContaining("did not remove superseded passages"));
  await expect.poll(index.passages, SOON).toEqual([]);
  stop();
  await following;
});

test("while documents are reprocessed, search always has their live generation", async () => {
  const { resources: opened } = await startPlatform();
  const { upload, reprocess } = openKnowledge(opened);
  const server = searchServer(opened);
  const documents = await Promise.all([1, 2, 3].map((n) => upload(`# Guide ${n}\n\nThe heron waits.`)));
  for (const { stream } of documents) await pollTypes(opened, stream).toEqual(READY);
  const shown = () =>
    opened.db.query<{ id: string; live_generation: number }>(
      "select id, live_generation from read.documents where live_generation is not null",
    );
  let [looks, missed, done] = [0, 0, false];
  const looking = (async () => {
    while (!done) {
      const before = await shown();
      const there = new Set(await server.passages());
      const after = await shown();
      for (const { id, live_generation } of before) {
        if (after.find((one) => one.id === id)?.live_generation !== live_generation) continue;
        looks++;
        if (!there.has(`${id}_${live_generation}_0`)) missed++;
      }
    }
  })();
  for (let generation = 2; generation <= 6; generation++)
    for (const { document_id, stream } of documents) {
      await reprocess(document_id, generation % 2 === 0);
      await pollTypes(opened, stream).toHaveLength(4 * generation);
    }
  await expect.poll(server.passages, SOON).toEqual(documents.map(({ document_id }) => `${document_id}_6_0`).sort());
  done = true;
  await looking;
  expect(missed).toBe(0);
  expect(looks).toBeGreaterThan(50);
});

test("a lost index is rebuilt from the log, including changes made meanwhile, and leftovers are deleted", async () => {
  const { resources: opened } = await startPlatform();
  const { upload, remove, reprocess } = openKnowledge(opened);
  const server = searchServer(opened);
  const leftover = `${opened.settings.BUS_PREFIX}-passages-00000000`;
  await server.create(leftover);
  const [kept, gone, again] = await Promise.all(["kept", "gone", "again"].map((text) => upload(text)));
  for (const { stream } of [kept!, gone!, again!]) await pollTypes(opened, stream).toEqual(READY);
  await reprocess(again!.document_id);
  await pollTypes(opened, again!.stream).toHaveLength(8);
  const lost = (await server.serving())!;

  await server.drop(lost);
  const meanwhile = await upload("meanwhile");
  await remove(gone!.document_id);
  await pollTypes(opened, meanwhile.stream).toEqual(READY);
  await expect.poll(server.serving, SOON).not.toBe(lost);
  const names = [`${kept!.document_id}_1_0`, `${again!.document_id}_2_0`, `${meanwhile.document_id}_1_0`].sort();
  await expect.poll(() => server.passages().catch(() => []), SOON).toEqual(names);
  await expect.poll(server.list, SOON).toEqual([await server.serving()]);
});

test("a new index is built on request while the old one serves, and replaces it when complete", async () => {
  const { resources: opened } = await startPlatform();
  const { upload } = openKnowledge(opened);
  const server = searchServer(opened);
  const upTo = (n: number) => Promise.all(Array.from({ length: n }, (_, at) => upload(`Text ${at}`)));
  const early = await upTo(20);
  for (const { stream } of early) await pollTypes(opened, stream).toEqual(READY);
  const old = (await server.serving())!;
  const rebuilt = rebuildPassages(opened.db, () => {});
  const late = await upTo(10);
  let serving = old;
  while (serving === old) {
    expect(await server.exists(old)).toBe(true);
    serving = (await server.serving())!;
  }
  // a document recorded as indexed can be found at once
  const found = (await opened.log.scan(0, ["DocumentIndexed"], 100)).events.map(
    ({ data }) => `${data.document_id}_1_0`,
  );
  expect(await server.passages()).toEqual(expect.arrayContaining(early.map(({ document_id }) => `${document_id}_1_0`)));
  expect(found.length).toBeGreaterThanOrEqual(20);
  for (const { stream } of late) await pollTypes(opened, stream).toEqual(READY);
  expect(await server.passages()).toHaveLength(30);
  expect(await rebuilt).toMatchObject({ index_id: serving, building: null });
});
