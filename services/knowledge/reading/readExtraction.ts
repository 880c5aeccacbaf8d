import { CompleteExtraction, FailExtraction, StartExtraction } from "#events/extraction.ts";
import { parseStreamName } from "#events/ids.ts";
import { extraction, type ExtractionState } from "../../deciders/extraction.ts";
import { UnreadableFile } from "../../reading/reader.ts";
import { findState } from "../../states.ts";
import { openThingBlobs, type ThingBlobs } from "../../thingBlobs.ts";
import { findPagePrice } from "../pagePrice.ts";
import { MAX_ATTEMPTS, WORKERS_LOST, type ReadingJob, type JobDeps, type ReadingSlot } from "./job.ts";
import { readFields, readFile } from "./readFile.ts";
import { removeIfErased } from "./removeIfErased.ts";

type OpenExtraction = Extract<ExtractionState, { status: "queued" | "reading" }>;

/** Reads a file into Markdown. Throws if the service itself fails, as readDocument does. */
export async function readExtraction(deps: JobDeps, job: ReadingJob, slot: ReadingSlot): Promise<void> {
  const before = await findWaiting(deps, job);
  if (!before) return;
  const { send } = deps;
  const work = { extraction_id: parseStreamName(job.stream).id, attempt: job.attempt };
  if (job.attempt > MAX_ATTEMPTS)
    return void (await send(job, FailExtraction.type, { ...work, attempt: MAX_ATTEMPTS, error: WORKERS_LOST }));
  const start = { ...work, worker: deps.worker };
  const [started, blobs] = await Promise.all([send(job, StartExtraction.type, start), openThingBlobs(deps, job)]);
  if (started.position === 0 || !blobs) return;

  try {
    const text = await storeText(deps, job, { before, blobs, slot });
    deps.failpoint("after-text-blobs");
    const per_page = await findPagePrice(deps.log, job.organization_id);
    const { position } = await send(job, CompleteExtraction.type, { ...work, ...text, per_page });
    if (position === 0) await deps.blobs.remove(text.text);
  } catch (error) {
    if (!(error instanceof UnreadableFile)) {
      await removeIfErased(deps, job);
      throw error;
    }
    await send(job, FailExtraction.type, { ...work, error: error.message });
  }
}

async function findWaiting({ log }: JobDeps, job: ReadingJob): Promise<OpenExtraction | undefined> {
  const state = await findState(log, job.stream, extraction);
  const open = state.status === "queued" || state.status === "reading" ? state : undefined;
  return open?.attempt === job.attempt - 1 ? open : undefined;
}

async function storeText(
  deps: JobDeps,
  job: ReadingJob,
  { before, blobs, slot }: { before: OpenExtraction; blobs: ThingBlobs; slot: ReadingSlot },
) {
  const { blob, mime_type } = before;
  const { markdown, ...read } = await readFile(deps, job, { blobs, slot, blob, mime_type });
  return { text: await blobs.put(markdown), ...readFields(read) };
}
