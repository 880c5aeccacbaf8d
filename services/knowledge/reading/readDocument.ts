import { DeleteDocument, FailReading, RecordText, StartReading } from "#events/document.ts";
import { partsOf, streamOf } from "#events/ids.ts";
import { collection } from "../../deciders/collection.ts";
import { document } from "../../deciders/document.ts";
import { stored, type StoredDocument } from "../../deciders/documentState.ts";
import { pagingOf } from "../../reading/passageLines.ts";
import { UnreadableFile, type CutText } from "../../reading/reader.ts";
import { stateOf } from "../../states.ts";
import { documentFrom } from "../document.ts";
import { sealedBlobs, type SealedBlobs } from "../../sealed.ts";
import { ATTEMPTS, LOST, type Job, type JobDeps } from "./job.ts";
import { readFile } from "./readFile.ts";

/** Blobs that were written, and what RecordText says of them. */
interface Written {
  blobs: string[];
  text: { text: string; passages: string; page_count: number | null; chunk_count: number; characters: number };
}

/**
 * Reads a document, or cuts its Markdown anew, and records the text. Throws where the trouble is ours: then the sweep
 * finds that nobody works on it, and a next attempt is made.
 */
export async function readDocument(deps: JobDeps, job: Job): Promise<void> {
  const before = await waiting(deps, job);
  if (!before) return;
  const { send } = deps;
  const work = { document_id: partsOf(job.stream).id, generation: job.generation, attempt: job.attempt };
  if (await isOrphan(deps, before))
    return void (await send(job, DeleteDocument.type, { document_id: work.document_id }));
  if (job.attempt > ATTEMPTS)
    return void (await send(job, FailReading.type, { ...work, attempt: ATTEMPTS, error: LOST }));
  if ((await send(job, StartReading.type, { ...work, worker: deps.worker })).position === 0) return;

  const blobs = await sealedBlobs(deps, job);
  if (!blobs) return;
  try {
    const { blobs: written, text } = await writeText(deps, job, before, blobs);
    deps.failpoint("after-text-blobs");
    const { position } = await send(job, RecordText.type, { ...work, ...text });
    // deleted or replaced meanwhile, or another worker's by now: nothing will ever name what was written
    if (position === 0) await Promise.all(written.map((key) => deps.blobs.remove(key)));
  } catch (error) {
    if (!(error instanceof UnreadableFile)) throw error;
    await send(job, FailReading.type, { ...work, error: error.message });
  }
}

/** The document, if it still waits for this very attempt. */
async function waiting({ log }: JobDeps, job: Job): Promise<StoredDocument | undefined> {
  const head = (await log.heads([job.stream])).get(job.stream);
  const state = head && stored((await stateOf(log, head, document)).state);
  const open = state?.status === "queued" || state?.status === "reading";
  return open && state.generation === job.generation && state.attempt === job.attempt - 1 ? state : undefined;
}

/** Whether its collection was deleted while the upload was on its way. */
async function isOrphan({ log }: JobDeps, { collection_id }: StoredDocument): Promise<boolean> {
  const stream = streamOf("collection", collection_id);
  const head = (await log.heads([stream])).get(stream);
  return head !== undefined && (await stateOf(log, head, collection)).state.status !== "standing";
}

function writeText(deps: JobDeps, job: Job, before: StoredDocument, blobs: SealedBlobs): Promise<Written> {
  return before.text && !before.reextract ? cutAgain(deps, before.text, blobs) : readOriginal(deps, job, before, blobs);
}

async function readOriginal(deps: JobDeps, job: Job, before: StoredDocument, blobs: SealedBlobs): Promise<Written> {
  const name = documentFrom(await deps.log.read(job.stream))?.name ?? "";
  const file = { blob: before.blob, mime_type: before.mime_type, name };
  const read = await readFile(deps, blobs, file);
  const [text, passages] = await Promise.all([blobs.put(read.markdown), blobs.put(read.passages)]);
  return { blobs: [text, passages], text: { text, passages, ...counts(read) } };
}

async function cutAgain(
  deps: JobDeps,
  read: NonNullable<StoredDocument["text"]>,
  blobs: SealedBlobs,
): Promise<Written> {
  const paging = pagingOf(await blobs.get(read.passages));
  const cut = await deps.reader.cut(await blobs.get(read.text), paging);
  const passages = await blobs.put(cut.passages);
  return { blobs: [passages], text: { text: read.text, passages, ...counts(cut) } };
}

const counts = ({ page_count, chunk_count, characters }: CutText) => ({ page_count, chunk_count, characters });
