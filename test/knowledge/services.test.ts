import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { newId } from "#events/ids.ts";
import { createHandler } from "#services/handle.ts";
import { readDocument } from "#services/knowledge/reading/readDocument.ts";
import { createSlots } from "#services/knowledge/reading/slots.ts";
import { sendTo } from "#services/send.ts";
import { encodePassages } from "#services/reading/passageLines.ts";
import type { Reader } from "#services/reading/reader.ts";
import { startPlatform, testDeployment } from "../platform.ts";
import { knowledgeOf, searchServer, typesOf } from "./documents.ts";

/* What the services do with documents and extractions that were committed, whoever sent them. */

const READY = ["DocumentUploaded", "ReadingStarted", "DocumentRead", "DocumentIndexed"];
const EXTRACTED = ["ExtractionRequested", "ExtractionStarted", "ExtractionCompleted"];
const soon = { timeout: 20_000, interval: 20 };

let platform: Awaited<ReturnType<typeof startPlatform>>;
beforeAll(async () => {
  platform = await startPlatform();
});
const types = (stream: string) => expect.poll(() => typesOf(platform.opened, stream), soon);
const last = async (stream: string) => (await platform.opened.log.read(stream)).at(-1)!;
const blobsOf = (organization: string, stream: string) =>
  readdir(join(platform.settings.DATA_DIR, "blobs", organization, stream)).catch(() => []);

/** A handler that commits for a process which is dead by now. */
const deadHandler = ({ log, bus }: typeof platform.opened) =>
  createHandler({ log, hints: bus.hints, worker: () => "dead-worker", afterCommit: () => {} });

test("a document is read, put into the index and ready; its charge is for what was read", async () => {
  const { upload } = knowledgeOf(platform.opened);
  const { document_id, stream } = await upload(`# Guide\n\n${"The heron waits. ".repeat(200)}`);
  await types(stream).toEqual(READY);
  const [, , read, indexed] = await platform.opened.log.read(stream);
  expect(read!.data).toMatchObject({ generation: 1, attempt: 1, page_count: null, chunk_count: 3 });
  expect(indexed!.data).toMatchObject({ generation: 1, units: 2, unused: [] });
  const passages = await searchServer(platform.opened).passages();
  expect(passages.filter((name) => name.startsWith(document_id))).toEqual(
    [0, 1, 2].map((seq) => `${document_id}_1_${seq}`),
  );
});

test("what cannot be read fails with a reason, and can be tried again", async () => {
  const { upload, reprocess } = knowledgeOf(platform.opened);
  const { document_id, stream } = await upload("no PDF at all", { mime_type: "application/pdf" });
  await types(stream).toEqual(["DocumentUploaded", "ReadingStarted", "ReadingFailed"]);
  expect(((await last(stream)).personal as { error: string }).error).toMatch(/\.$/);
  expect((await reprocess(document_id, true)).rejection).toBeUndefined();
  await expect.poll(async () => (await last(stream)).type, soon).toBe("ReadingFailed");
});

test("a file without text fails", async () => {
  const { upload } = knowledgeOf(platform.opened);
  const { stream } = await upload(" \n \n");
  await types(stream).toEqual(["DocumentUploaded", "ReadingStarted", "ReadingFailed"]);
});

test("cutting again keeps the text and its numbers, reading again makes both anew; what is not named any more goes", async () => {
  const { upload, reprocess, organization_id } = knowledgeOf(platform.opened);
  const { document_id, stream } = await upload("# Guide\n\nThe heron waits.\n\n# Map\n\nNorth is up.\n");
  await types(stream).toHaveLength(4);
  const read = async () => (await platform.opened.log.read(stream)).findLast(({ type }) => type === "DocumentRead")!;
  const first = (await read()).data as { text: string; passages: string; chunk_count: number };
  await reprocess(document_id);
  await types(stream).toHaveLength(8);
  const second = (await read()).data as typeof first;
  expect(second).toMatchObject({ text: first.text, chunk_count: first.chunk_count, generation: 2 });
  expect((await last(stream)).data).toMatchObject({ units: 0, unused: [first.passages] });
  await reprocess(document_id, true);
  await types(stream).toHaveLength(12);
  expect((await last(stream)).data).toMatchObject({ units: 1, unused: [first.text, second.passages] });
  await expect.poll(async () => (await blobsOf(organization_id, stream)).length, soon).toBe(3);
});

test("an extraction is read and complete; at its time its bytes, its text and its key go", async () => {
  const { extract, organization_id } = knowledgeOf(platform.opened);
  const { stream } = await extract("# Guide\n\nThe heron waits.\n", 3);
  await types(stream).toEqual(EXTRACTED);
  expect((await last(stream)).data).toMatchObject({ page_count: null, chunk_count: 1, units: 1 });
  expect(await blobsOf(organization_id, stream)).toHaveLength(2);
  await types(stream).toEqual([...EXTRACTED, "ExtractionExpired"]);
  await expect.poll(() => blobsOf(organization_id, stream), soon).toEqual([]);
  expect((await platform.opened.log.find([stream])).size).toBe(0);
});

test("the documents of a deleted collection are deleted, also one that comes after", async () => {
  const its = knowledgeOf(platform.opened);
  const { collection_id, organization_id } = its;
  await its.createCollection();
  const early = await Promise.all([1, 2, 3].map((n) => its.upload(`# Guide ${n}\n\nThe heron waits.`)));
  for (const { stream } of early) await types(stream).toEqual(READY);
  await its.ask(`collection-${collection_id}`, "DeleteCollection", { collection_id });
  const late = await its.upload("# Late\n\nThe heron has gone.");
  for (const { stream } of [...early, late])
    await expect.poll(async () => (await last(stream)).type, soon).toBe("DocumentDeleted");
  await types(`collection-${collection_id}`).toEqual(["CollectionCreated", "CollectionDeleted", "CollectionEmptied"]);
  await expect.poll(() => blobsOf(organization_id, early[0]!.stream), soon).toEqual([]);
  await expect.poll(() => searchServer(platform.opened).passages(), soon).not.toContain(`${early[0]!.document_id}_1_0`);
});

test("what a dead worker had is read by another, with the next attempt", async () => {
  const deployment = await testDeployment();
  const stage = await startPlatform({ roles: [], deployment });
  const handle = deadHandler(stage.opened);
  const { upload, extract, organization_id } = knowledgeOf(stage.opened, { handle });
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

  const { opened } = await startPlatform({ deployment });
  await expect.poll(() => typesOf(opened, queued.stream), soon).toEqual(READY);
  await expect.poll(() => typesOf(opened, asked.stream), soon).toEqual(EXTRACTED);
  await expect.poll(() => typesOf(opened, begun.stream), soon).toHaveLength(5);
  expect((await opened.log.read(begun.stream))[2]!.data).toMatchObject({ attempt: 2 });
  await expect.poll(async () => (await typesOf(opened, lost.stream)).at(-1), soon).toBe("ReadingFailed");
  expect((await opened.log.read(lost.stream)).at(-1)!.data).toMatchObject({ attempt: 3 });
});

test("a document that is deleted while it is read leaves nothing behind", async () => {
  const { opened, stop } = await startPlatform({ roles: [] });
  const { log, blobs, keyring, settings } = opened;
  const handle = deadHandler(opened);
  const { upload, remove, organization_id } = knowledgeOf(opened, { handle });
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
    keyring,
    dataKeys: log,
    reader,
    slots: createSlots(1),
    worker: newId(),
    failpoint: () => {},
  };
  await readDocument({ ...deps, send: sendTo(handle, "w") }, { stream, organization_id, generation: 1, attempt: 1 });
  expect(await typesOf(opened, stream)).toEqual(["DocumentUploaded", "ReadingStarted", "DocumentDeleted"]);
  expect(await readdir(join(settings.DATA_DIR, "blobs", organization_id, stream))).toHaveLength(1);
  await stop();
});
