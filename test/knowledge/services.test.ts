import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { newId } from "#events/ids.ts";
import { createHandler } from "#services/handle.ts";
import { readDocument } from "#services/knowledge/reading/readDocument.ts";
import { createFairSemaphore } from "#services/sharing/fairSemaphore.ts";
import { sendTo } from "#services/send.ts";
import { encodePassages } from "#services/reading/passageLines.ts";
import type { Reader } from "#services/reading/reader.ts";
import { startPlatform, testDeployment } from "../platform.ts";
import { SOON } from "../soon.ts";
import { eventTypes, openKnowledge, pollTypes, READY, searchServer } from "./documents.ts";

/* How the services process committed documents and extractions, whatever sent the commands. */

const EXTRACTED = ["ExtractionRequested", "ExtractionStarted", "ExtractionCompleted"];

const platform = await startPlatform();
const types = (stream: string) => pollTypes(platform.resources, stream);
const last = async (stream: string) => (await platform.resources.log.read(stream)).at(-1)!;
const blobsOf = (organization: string, stream: string) =>
  readdir(join(platform.settings.DATA_DIR, "blobs", organization, stream)).catch(() => []);

/** A handler of a process that died after its commits. */
const deadHandler = ({ log, bus }: typeof platform.resources) =>
  createHandler({ log, hints: bus.hints, worker: () => "dead-worker", afterCommit: () => {} });

test("a document is read, indexed and ready, and its usage counts what was read", async () => {
  const { upload } = openKnowledge(platform.resources);
  const { document_id, stream } = await upload(`# Guide\n\n${"The heron waits. ".repeat(200)}`);
  await types(stream).toEqual(READY);
  const [, , read, indexed] = await platform.resources.log.read(stream);
  expect(read!.data).toMatchObject({ generation: 1, attempt: 1, page_count: null, chunk_count: 3 });
  expect(indexed!.data).toMatchObject({ generation: 1, units: 2, unused: [] });
  const passages = await searchServer(platform.resources).passages();
  expect(passages.filter((name) => name.startsWith(document_id))).toEqual(
    [0, 1, 2].map((seq) => `${document_id}_1_${seq}`),
  );
});

test("an unreadable document fails with a reason and can be reprocessed", async () => {
  const { upload, reprocess } = openKnowledge(platform.resources);
  const { document_id, stream } = await upload("no PDF at all", { mime_type: "application/pdf" });
  await types(stream).toEqual(["DocumentUploaded", "ReadingStarted", "ReadingFailed"]);
  expect(((await last(stream)).personal as { error: string }).error).toMatch(/\.$/);
  expect((await reprocess(document_id, true)).rejection).toBeUndefined();
  await expect.poll(async () => (await last(stream)).type, SOON).toBe("ReadingFailed");
});

test("a file without text fails", async () => {
  const { upload } = openKnowledge(platform.resources);
  const { stream } = await upload(" \n \n");
  await types(stream).toEqual(["DocumentUploaded", "ReadingStarted", "ReadingFailed"]);
});

test("reprocessing keeps the text, reextract reads it again, and blobs that no event references are deleted", async () => {
  const { upload, reprocess, organization_id } = openKnowledge(platform.resources);
  const { document_id, stream } = await upload("# Guide\n\nThe heron waits.\n\n# Map\n\nNorth is up.\n");
  await types(stream).toHaveLength(4);
  const read = async () => (await platform.resources.log.read(stream)).findLast(({ type }) => type === "DocumentRead")!;
  const first = (await read()).data as { text: string; passages: string; chunk_count: number };
  await reprocess(document_id);
  await types(stream).toHaveLength(8);
  const second = (await read()).data as typeof first;
  expect(second).toMatchObject({ text: first.text, chunk_count: first.chunk_count, generation: 2 });
  expect((await last(stream)).data).toMatchObject({ units: 0, unused: [first.passages] });
  await reprocess(document_id, true);
  await types(stream).toHaveLength(12);
  expect((await last(stream)).data).toMatchObject({ units: 1, unused: [first.text, second.passages] });
  await expect.poll(async () => (await blobsOf(organization_id, stream)).length, SOON).toBe(3);
});

test("an extraction is read, and at its expiry its bytes, text and key are deleted", async () => {
  const { extract, organization_id } = openKnowledge(platform.resources);
  const { stream } = await extract("# Guide\n\nThe heron waits.\n", 3);
  await types(stream).toEqual(EXTRACTED);
  expect((await last(stream)).data).toMatchObject({ page_count: null, chunk_count: 1, units: 1 });
  expect(await blobsOf(organization_id, stream)).toHaveLength(2);
  await types(stream).toEqual([...EXTRACTED, "ExtractionExpired"]);
  await expect.poll(() => blobsOf(organization_id, stream), SOON).toEqual([]);
  expect((await platform.resources.log.find([stream])).size).toBe(0);
});

test("the documents of a deleted collection are deleted, even one uploaded afterwards", async () => {
  const its = openKnowledge(platform.resources);
  const { collection_id, organization_id } = its;
  await its.createCollection();
  const early = await Promise.all([1, 2, 3].map((n) => its.upload(`# Guide ${n}\n\nThe heron waits.`)));
  for (const { stream } of early) await types(stream).toEqual(READY);
  await its.ask(`collection-${collection_id}`, "DeleteCollection", { collection_id });
  const late = await its.upload("# Late\n\nThe heron has gone.");
  for (const { stream } of [...early, late])
    await expect.poll(async () => (await last(stream)).type, SOON).toBe("DocumentDeleted");
  await types(`collection-${collection_id}`).toEqual(["CollectionCreated", "CollectionDeleted", "CollectionEmptied"]);
  await expect.poll(() => blobsOf(organization_id, early[0]!.stream), SOON).toEqual([]);
  await expect
    .poll(() => searchServer(platform.resources).passages(), SOON)
    .not.toContain(`${early[0]!.document_id}_1_0`);
});

test("another worker reads a document of a dead worker with the next attempt number", async () => {
  const deployment = await testDeployment();
  const stage = await startPlatform({ roles: [], deployment });
  const handle = deadHandler(stage.resources);
  const { upload, extract, organization_id } = openKnowledge(stage.resources, { handle });
  const send = sendTo(handle, "dead-worker");
  const [queued, begun, lost] = [
    await upload("# Queued\n\nYes."),
    await upload("# Begun\n\nYes."),
    await upload("# Lost"),
  ];
  const asked = await extract("# Asked\n\nYes.");
  const start = ({ stream, document_id }: typeof begun, attempt: number) =>
    send({ stream, organization_id }, "StartReading", { document_id, generation: 1, attempt, worker: "dead-worker" });
  await start(begun, 1);
  for (const attempt of [1, 2, 3]) await start(lost, attempt);
  await stage.stop();

  const { resources: opened } = await startPlatform({ deployment });
  await pollTypes(opened, queued.stream).toEqual(READY);
  await pollTypes(opened, asked.stream).toEqual(EXTRACTED);
  await pollTypes(opened, begun.stream).toHaveLength(5);
  expect((await opened.log.read(begun.stream))[2]!.data).toMatchObject({ attempt: 2 });
  await expect.poll(async () => (await eventTypes(opened, lost.stream)).at(-1), SOON).toBe("ReadingFailed");
  expect((await opened.log.read(lost.stream)).at(-1)!.data).toMatchObject({ attempt: 3 });
});

test("a document deleted while it is read leaves nothing behind", async () => {
  const { resources: opened, stop } = await startPlatform({ roles: [] });
  const { log, blobs, vault, settings } = opened;
  const handle = deadHandler(opened);
  const { upload, remove, organization_id } = openKnowledge(opened, { handle });
  const { document_id, stream } = await upload("# Guide");
  const reader: Pick<Reader, "read" | "cut"> = {
    async read() {
      await remove(document_id);
      const passages = encodePassages({ page_count: null, pages: null }, []);
      return { markdown: Buffer.from("# Guide"), page_count: null, chunk_count: 1, characters: 7, passages };
    },
    cut: () => Promise.reject(new Error("there is nothing to cut")),
  };
  const deps = {
    log,
    blobs,
    vault,
    reader,
    openFiles: createFairSemaphore({ total: 1, perTenant: 1 }),
    worker: newId(),
    failpoint: () => {},
  };
  const turn = { end: () => {}, stopping: new AbortController().signal };
  await readDocument(
    { ...deps, send: sendTo(handle, "w") },
    { stream, organization_id, generation: 1, attempt: 1 },
    turn,
  );
  expect(await eventTypes(opened, stream)).toEqual(["DocumentUploaded", "ReadingStarted", "DocumentDeleted"]);
  expect(await readdir(join(settings.DATA_DIR, "blobs", organization_id, stream))).toHaveLength(1);
  await stop();
});
