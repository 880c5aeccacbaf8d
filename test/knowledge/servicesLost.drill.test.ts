import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { IndexLost, SurplusPassages } from "#services/knowledge/indexing/applyChanges.ts";
import { IncompleteIndex } from "#services/knowledge/indexing/buildIndex.ts";
import { DocumentNotIndexed } from "#services/knowledge/indexing/refusedGenerations.ts";
import { MeilisearchError } from "#infra/meilisearch/request.ts";
import { findMissingTexts, checkTexts } from "../../cli/doctor/missingTexts.ts";
import { rebuildPassages } from "../../cli/projections/passages.ts";
import { readHealth } from "../../roles/health.ts";
import { startPlatform } from "../platform.ts";
import { aPassage } from "../search/passages.ts";
import { SOON } from "../soon.ts";
import { openKnowledge, pollTypes, READY, searchServer } from "./documents.ts";
import { followerBench } from "./follower.ts";

/* An index that lost its content: emptied, restored from an older copy, or refusing changes. */

const nameOf = ({ document_id }: { document_id: string }): string => `${document_id}_1_0`;

test("an emptied index is detected and rebuilt", async () => {
  const { resources: opened } = await startPlatform();
  const { upload } = openKnowledge(opened);
  const server = searchServer(opened);
  const documents = await Promise.all(["one", "two", "three"].map((text) => upload(text)));
  for (const { stream } of documents) await pollTypes(opened, stream).toEqual(READY);
  const emptied = (await server.serving())!;
  const { meili_url, meili_master_key } = opened.addresses;
  const headers = { authorization: `Bearer ${meili_master_key}` };
  expect((await fetch(`${meili_url}/indexes/${emptied}/documents`, { method: "DELETE", headers })).status).toBe(202);
  await expect.poll(() => server.exists(emptied), SOON).toBe(false);
  await expect.poll(server.serving, SOON).not.toBe(emptied);
  expect(await server.passages()).toEqual(documents.map(nameOf).sort());
});

test("the service is not ready while its index is lost", async () => {
  const { opened, index, read, follow, stop } = await followerBench();
  const document = await read("one");
  const following = follow();
  await pollTypes(opened, document.stream).toEqual(READY);
  stop();
  await following;
  const health = async () => (await readHealth(opened, { has: searchServer(opened).exists }))["index passages"];
  expect(await health()).toMatchObject({ ok: true });
  await index.drop((await index.serving())!);
  expect(await health()).toMatchObject({ ok: false, detail: { lost: true } });
  const damaged = async () => Promise.reject(new MeilisearchError(500, "invalid_store_file", "damaged"));
  expect((await readHealth(opened, { has: damaged }))["index passages"]).toMatchObject({ ok: false });
});

test("an index that lacks passages is detected and rebuilt, at startup and later", async () => {
  const { opened, index, errors, read, follow, stop } = await followerBench(() => ({ reconcileMs: 100 }));
  const documents = [await read("one"), await read("two"), await read("three")];
  const following = follow();
  for (const { stream } of documents) await pollTypes(opened, stream).toEqual(READY);
  const names = documents.map(nameOf).sort();
  for (const gone of documents.slice(0, 2)) {
    const lacking = (await index.serving())!;
    await index.waitFor(await index.remove(lacking, [{ document_id: gone.document_id, below_generation: null }]));
    await expect.poll(index.serving, SOON).not.toBe(lacking);
    expect(await index.passages()).toEqual(names);
  }
  expect(errors.filter((error) => error instanceof IndexLost).map(String)).toEqual([
    expect.stringContaining("2 of 3"),
    expect.stringContaining("2 of 3"),
  ]);
  stop();
  await following;
});

test("while an index that lacks passages is replaced, new documents go to it and wait for nothing", async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  let lacking = "";
  const { opened, index, read, follow, stop } = await followerBench((real) => ({
    reconcileMs: 100,
    index: {
      ...real,
      async put(uid, passages) {
        if (lacking && uid !== lacking) await released;
        return real.put(uid, passages);
      },
    },
  }));
  const documents = [await read("one"), await read("two")];
  const following = follow();
  for (const { stream } of documents) await pollTypes(opened, stream).toEqual(READY);
  lacking = (await index.serving())!;
  const { document_id } = documents[0]!;
  await index.waitFor(await index.remove(lacking, [{ document_id, below_generation: null }]));
  await expect.poll(async () => (await index.list()).length, SOON).toBe(2);
  const later = await read("later");
  await pollTypes(opened, later.stream).toEqual(READY);
  expect(await index.serving()).toBe(lacking);
  release();
  await expect.poll(index.serving, SOON).not.toBe(lacking);
  expect(await index.passages()).toEqual([...documents, later].map(nameOf).sort());
  stop();
  await following;
});

test("passages of a deleted document that a former leader writes late are removed, and do not hide missing ones", async () => {
  const { opened, index, errors, knowledge, read, follow, stop } = await followerBench(() => ({ reconcileMs: 100 }));
  const [kept, deleted] = [await read("kept"), await read("deleted")];
  const following = follow();
  for (const { stream } of [kept, deleted]) await pollTypes(opened, stream).toEqual(READY);
  await knowledge.remove(deleted.document_id);
  await expect.poll(index.passages, SOON).toEqual([nameOf(kept)]);
  const serving = (await index.serving())!;
  const { organization_id, collection_id } = knowledge;
  const late = aPassage("deleted", { organization_id, collection_id, document_id: deleted.document_id });
  const surplus = () => errors.filter((error) => error instanceof SurplusPassages).length;
  // the deletion itself may still be running and remove it too
  const putLate = async () => {
    if (surplus() === 0) await index.waitFor(await index.put(serving, [late]));
    return surplus();
  };
  await expect.poll(putLate, { ...SOON, interval: 500 }).toBe(1);
  await expect.poll(index.passages, SOON).toEqual([nameOf(kept)]);
  expect(await index.serving()).toBe(serving);

  const gone = await index.remove(serving, [{ document_id: kept.document_id, below_generation: null }]);
  await index.waitFor([...(await index.put(serving, [late])), ...gone]);
  await expect.poll(() => index.passages().catch(() => []), SOON).toEqual([nameOf(kept)]);
  stop();
  await following;
});

test("passages lost while the read model lags are detected once it has caught up", async () => {
  let counts = 0;
  const { opened, index, read, follow, stop } = await followerBench((real) => ({
    reconcileMs: 100,
    index: { ...real, count: (uid) => ((counts += 1), real.count(uid)) },
  }));
  const following = follow();
  const shown = await read("one");
  const live = () => opened.db.query("select 1 from read.documents where live_generation = 1");
  await expect.poll(async () => (await live()).length, SOON).toBe(1);
  const client = await opened.pool.connect();
  let gone: typeof shown;
  let lacking: string;
  try {
    // the read model can be read but does not advance
    await client.query("begin; lock table read.documents in exclusive mode");
    gone = await read("two");
    await pollTypes(opened, gone.stream).toEqual(READY);
    lacking = (await index.serving())!;
    await index.waitFor(await index.remove(lacking, [{ document_id: gone.document_id, below_generation: null }]));
    const before = counts;
    await expect.poll(() => counts, SOON).toBeGreaterThanOrEqual(before + 2);
    expect(await index.serving()).toBe(lacking);
  } finally {
    client.release(true);
  }
  await expect.poll(index.serving, SOON).not.toBe(lacking);
  expect(await index.passages()).toEqual([shown, gone].map(nameOf).sort());
  stop();
  await following;
});

test("a change that the search server refuses three times is logged with the document and retried until it succeeds", async () => {
  let poisoned = true;
  const { opened, index, errors, knowledge, read, follow, stop } = await followerBench((real) => ({
    reconcileMs: 100,
    index: {
      ...real,
      put: (uid, passages) =>
        real.put(
          uid,
          passages.map((one) => (poisoned && one.name === "second.md" ? { ...one, document_id: "no id!" } : one)),
        ),
    },
  }));
  const document = await read("The heron waits.");
  const following = follow();
  await pollTypes(opened, document.stream).toEqual(READY);
  const { document_id, stream } = document;
  await knowledge.ask(stream, "ChangeDocument", { document_id, name: "second.md" });
  const told = () => errors.filter((error) => error instanceof DocumentNotIndexed).map(String);
  await expect.poll(told, SOON).toContainEqual(expect.stringContaining(stream));
  const titles = async () => (await index.fields("title")).map(({ title }) => title);
  expect(await titles()).toEqual(["a.md"]);
  poisoned = false;
  await expect.poll(titles, SOON).toEqual(["second.md"]);
  stop();
  await following;
});

test("a document that no index accepts causes one rebuild, not endless ones", async () => {
  const { opened, index, errors, read, follow, stop } = await followerBench(() => ({ reconcileMs: 100 }));
  const [kept, torn] = [await read("kept"), await read("torn")];
  const following = follow();
  for (const { stream } of [kept, torn]) await pollTypes(opened, stream).toEqual(READY);
  await opened.blobs.remove(torn.named.passages);
  const lost = (await index.serving())!;
  await index.drop(lost);
  await expect.poll(index.serving, SOON).not.toBe(lost);
  const filled = (await index.serving())!;
  expect(await index.passages()).toEqual([nameOf(kept)]);
  expect(errors.filter((error) => error instanceof DocumentNotIndexed).map(String)).toEqual([
    expect.stringContaining(torn.stream),
  ]);
  const later = await read("later");
  await pollTypes(opened, later.stream).toEqual(READY);
  expect(await index.serving()).toBe(filled);
  stop();
  await following;
});

test("a new index that lacks passages of the serving one does not replace it until it is complete", async () => {
  const { opened, index, errors, read, follow, stop } = await followerBench();
  const [kept, torn] = [await read("kept"), await read("torn")];
  const leader = await opened.pool.connect();
  await leader.query("select pg_advisory_lock(hashtext('svc'), hashtext('passages'))");
  const following = follow();
  for (const { stream } of [kept, torn]) await pollTypes(opened, stream).toEqual(READY);
  const serving = (await index.serving())!;
  const { text } = torn.named;
  const bytes = (await opened.blobs.get(text))!;
  await expect.poll(async () => (await findMissingTexts(opened.db, opened.settings.DATA_DIR)).checked, SOON).toBe(2);
  await opened.blobs.remove(text);
  expect(await rebuildPassages(opened.db, () => {})).toMatchObject({
    index_id: serving,
    serves: false,
    building: null,
  });
  expect(await index.serving()).toBe(serving);
  expect(await index.passages()).toEqual([kept, torn].map(nameOf).sort());
  expect(errors.filter((error) => error instanceof IncompleteIndex).map(String)).toEqual([
    expect.stringContaining("refused 1 documents"),
  ]);
  await expect(checkTexts(opened.db, opened.settings.DATA_DIR)).rejects.toThrow(torn.document_id);

  const path = join(opened.settings.DATA_DIR, "blobs", text);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, bytes);
  expect(await checkTexts(opened.db, opened.settings.DATA_DIR)).toBe("complete, in 2 documents");
  expect(await rebuildPassages(opened.db, () => {})).toMatchObject({ serves: true, building: null });
  expect(await index.serving()).not.toBe(serving);
  expect(await index.passages()).toEqual([kept, torn].map(nameOf).sort());
  leader.release(true);
  stop();
  await following;
});
