import { DeleteDocument, FailReading, RecordText, StartReading } from "#events/document.ts";
import { parseStreamName } from "#events/ids.ts";
import { document } from "../../deciders/document.ts";
import { storedDocument, type StoredDocument } from "../../deciders/documentState.ts";
import { readPagination } from "../../reading/passageLines.ts";
import { UnreadableFile } from "../../reading/reader.ts";
import { findState } from "../../states.ts";
import { openThingBlobs, type ThingBlobs } from "../../thingBlobs.ts";
import { wasCollectionDeleted } from "../wasCollectionDeleted.ts";
import { MAX_ATTEMPTS, WORKERS_LOST, type ReadingJob, type JobDeps, type ReadingSlot } from "./job.ts";
import { readBlob, readFields, readFile } from "./readFile.ts";
import { removeIfErased } from "./removeIfErased.ts";

/** The keys of the new blobs, and the fields of RecordText. */
interface StoredText {
  blobs: string[];
  text: { text: string; passages: string } & ReturnType<typeof readFields>;
}

/** Reads a document, or cuts its Markdown again, and records the text. Throws if the service itself fails; the sweep then starts the next attempt. */
export async function readDocument(deps: JobDeps, job: ReadingJob, slot: ReadingSlot): Promise<void> {
  const { collection_id } = job;
  const [before, isDeleted] = await Promise.all([
    findWaiting(deps, job),
    collection_id !== undefined && wasCollectionDeleted(deps.log, collection_id),
  ]);
  if (!before) return;
  const { send } = deps;
  const work = { document_id: parseStreamName(job.stream).id, generation: job.generation, attempt: job.attempt };
  if (isDeleted || (collection_id === undefined && (await wasCollectionDeleted(deps.log, before.collection_id))))
    return void (await send(job, DeleteDocument.type, { document_id: work.document_id }));
  if (job.attempt > MAX_ATTEMPTS)
    return void (await send(job, FailReading.type, { ...work, attempt: MAX_ATTEMPTS, error: WORKERS_LOST }));
  const start = { ...work, worker: deps.worker };
  const [started, blobs] = await Promise.all([send(job, StartReading.type, start), openThingBlobs(deps, job)]);
  if (started.position === 0 || !blobs) return;

  try {
    const stored = await storeText(deps, job, { before, blobs, slot });
    deps.failpoint("after-text-blobs");
    const { position } = await send(job, RecordText.type, { ...work, ...stored.text });
    // The document was deleted, replaced or taken over meanwhile, so no event references the new blobs.
    if (position === 0) await Promise.all(stored.blobs.map((key) => deps.blobs.remove(key)));
  } catch (error) {
    if (!(error instanceof UnreadableFile)) {
      await removeIfErased(deps, job);
      throw error;
    }
    await send(job, FailReading.type, { ...work, error: error.message });
  }
}

/** The document, if it still waits for this attempt. */
async function findWaiting({ log }: JobDeps, job: ReadingJob): Promise<StoredDocument | undefined> {
  const state = storedDocument(await findState(log, job.stream, document));
  const open = state?.status === "queued" || state?.status === "reading";
  return open && state.generation === job.generation && state.attempt === job.attempt - 1 ? state : undefined;
}

interface Source {
  before: StoredDocument;
  blobs: ThingBlobs;
  slot: ReadingSlot;
}

function storeText(deps: JobDeps, job: ReadingJob, source: Source): Promise<StoredText> {
  const { text, reextract } = source.before;
  return text && !reextract ? cutAgain(deps, job, text, source) : readOriginal(deps, job, source);
}

async function readOriginal(deps: JobDeps, job: ReadingJob, { before, blobs, slot }: Source): Promise<StoredText> {
  const { blob, mime_type, text: earlier } = before;
  const file = { blobs, slot, blob, mime_type, ocr_languages: before.ocr_languages ?? earlier?.ocr_languages };
  const read = await readFile(deps, job, file);
  const [text, passages] = await Promise.all([blobs.put(read.markdown), blobs.put(read.passages)]);
  return { blobs: [text, passages], text: { text, passages, ...readFields(read) } };
}

async function cutAgain(
  deps: JobDeps,
  { organization_id }: ReadingJob,
  read: NonNullable<StoredDocument["text"]>,
  { blobs, slot }: Source,
): Promise<StoredText> {
  const paging = readPagination(await readBlob(blobs, read.passages, slot));
  const cut = await deps.reader.cut(await readBlob(blobs, read.text, slot), paging, organization_id);
  const passages = await blobs.put(cut.passages);
  const { warnings, ocr_languages } = read;
  const kept = { ...(warnings && { warnings }), ...(ocr_languages && { ocr_languages }) };
  return { blobs: [passages], text: { text: read.text, passages, ...readFields({ ...cut, ...kept }) } };
}
