import { CompleteExtraction, FailExtraction, StartExtraction } from "#events/extraction.ts";
import { partsOf } from "#events/ids.ts";
import { extraction, type ExtractionState } from "../../deciders/extraction.ts";
import { UnreadableFile } from "../../reading/reader.ts";
import { stateOf } from "../../states.ts";
import { sealedBlobs, type SealedBlobs } from "../../sealed.ts";
import { ATTEMPTS, LOST, type Job, type JobDeps } from "./job.ts";
import { readFile } from "./readFile.ts";

type Open = Extract<ExtractionState, { status: "queued" | "reading" }>;

/** Reads a file into Markdown, once and for all. Throws where the trouble is ours, as readDocument does. */
export async function readExtraction(deps: JobDeps, job: Job): Promise<void> {
  const before = await waiting(deps, job);
  if (!before) return;
  const { send } = deps;
  const work = { extraction_id: partsOf(job.stream).id, attempt: job.attempt };
  if (job.attempt > ATTEMPTS)
    return void (await send(job, FailExtraction.type, { ...work, attempt: ATTEMPTS, error: LOST }));
  if ((await send(job, StartExtraction.type, { ...work, worker: deps.worker })).position === 0) return;

  const blobs = await sealedBlobs(deps, job);
  if (!blobs) return;
  try {
    const text = await writeText(deps, job, before, blobs);
    deps.failpoint("after-text-blobs");
    const { position } = await send(job, CompleteExtraction.type, { ...work, ...text });
    if (position === 0) await deps.blobs.remove(text.text);
  } catch (error) {
    if (!(error instanceof UnreadableFile)) throw error;
    await send(job, FailExtraction.type, { ...work, error: error.message });
  }
}

async function waiting({ log }: JobDeps, job: Job): Promise<Open | undefined> {
  const head = (await log.heads([job.stream])).get(job.stream);
  if (!head) return undefined;
  const { state }: { state: ExtractionState } = await stateOf(log, head, extraction);
  const open = state.status === "queued" || state.status === "reading" ? state : undefined;
  return open?.attempt === job.attempt - 1 ? open : undefined;
}

async function writeText(deps: JobDeps, job: Job, before: Open, blobs: SealedBlobs) {
  const [requested] = await deps.log.read(job.stream);
  const { name } = (requested?.personal ?? { name: "" }) as { name: string };
  const file = { blob: before.blob, mime_type: before.mime_type, name };
  const { markdown, page_count, chunk_count, characters } = await readFile(deps, blobs, file);
  return { text: await blobs.put(markdown), page_count, chunk_count, characters };
}
