import { currentTime } from "#events/clock.ts";
import { ExpireExtraction, type ExtractionEvent } from "#events/extraction.ts";
import type { DocumentEvent } from "#events/document.ts";
import { parseStreamName } from "#events/ids.ts";
import { currentTrace, withTrace } from "#events/spans.ts";
import type { EventLog, StreamHead } from "#events/ports.ts";
import { document } from "../../deciders/document.ts";
import { storedDocument, type DocumentState } from "../../deciders/documentState.ts";
import { extraction, type ExtractionState } from "../../deciders/extraction.ts";
import type { CommittedCommand } from "../../handle.ts";
import { createLeasedWork, type LostWork } from "../../leasedWork.ts";
import { readState } from "../../states.ts";
import type { Send } from "../../send.ts";
import { createFairSemaphore, type FairSemaphore } from "../../sharing/fairSemaphore.ts";
import type { ReadingJob, ReadingSlot } from "./job.ts";

/** Readings that wait in one process. Others stay without a worker until a sweep finds a process with room. */
const MAX_WAITING = 10_000;
/** A process with this many waiting readings takes over no lost ones, and leaves them to processes with less to do. */
const MAX_WAITING_FOR_TAKEOVER = 100;

export interface ReadingsOptions {
  log: Pick<EventLog, "read">;
  /** The clock for expiring extractions. */
  now?(): number;
  worker: string;
  /** Maximum readings that run at the same time: in total, and of one organization. */
  atOnce: number;
  perOrganization: number;
  send: Send;
  run(job: ReadingJob, slot: ReadingSlot): Promise<void>;
  onError(error: unknown, job: ReadingJob): void;
}

const leaseKey = ({ stream, generation, attempt }: Pick<ReadingJob, "stream" | "generation" | "attempt">): string =>
  `${stream}/${generation}/${attempt}`;

/** The readings of this process. They wait in a queue in which organizations take turns, and `atOnce` of them run. */
export function createReadings(options: ReadingsOptions) {
  const { atOnce, perOrganization, worker } = options;
  const total = MAX_WAITING + atOnce;
  const semaphore = createFairSemaphore({ total: atOnce, perTenant: perOrganization });
  const { hasRoom, busy, afterCommit, resumeWork, stop } = createLeasedWork<ReadingJob, { ended: Promise<void> }>({
    worker,
    limits: { total, perTenant: total },
    maxHeldForTakeover: MAX_WAITING_FOR_TAKEOVER + atOnce,
    identify: (job) => ({ key: leaseKey(job), stream: job.stream, organization_id: job.organization_id }),
    leasedBy: findOpenedJobs,
    open: (head, isHeld) => findLostReading(options, head, isHeld),
    start: (job, stopping) => ({
      // A job that is admitted after the stop is left to other workers.
      ended: runWithPermit(semaphore, job.organization_id, async (release) => {
        const slot: ReadingSlot = { end: release, stopping };
        if (!stopping.aborted) await withTrace(job.trace, () => options.run(job, slot));
      }).catch((error: unknown) => {
        // the job was waiting for text recognition or for the disk when the process stopped
        if (!stopping.aborted || error !== stopping.reason) throw error;
      }),
    }),
    onError: options.onError,
  });
  return { hasRoom, busy, afterCommit, resumeWork, stop };
}

/** Runs work while it holds a permit, which it may release early. */
async function runWithPermit(
  semaphore: FairSemaphore,
  tenant: string,
  work: (release: () => void) => Promise<void>,
): Promise<void> {
  await semaphore.acquire(tenant);
  let isReleased = false;
  const release = (): void => {
    if (isReleased) return;
    isReleased = true;
    semaphore.release(tenant);
  };
  try {
    await work(release);
  } finally {
    release();
  }
}

/** The readings that a commit opens. */
function findOpenedJobs({ command: { stream, organization_id, keys }, events }: CommittedCommand) {
  return (events as (DocumentEvent | ExtractionEvent)[]).flatMap((event) => {
    const opened = openedBy(event);
    if (!opened) return [];
    const { worker, ...work } = opened;
    const wrapped_key = keys?.[stream];
    return [{ worker, work: { stream, organization_id, attempt: 1, wrapped_key, trace: currentTrace(), ...work } }];
  });
}

type OpenedReading = Pick<ReadingJob, "generation" | "collection_id"> & { worker: string | null };

function openedBy(event: DocumentEvent | ExtractionEvent): OpenedReading | undefined {
  switch (event.type) {
    case "ExtractionRequested":
      return { generation: 1, worker: event.data.worker };
    case "DocumentUploaded": {
      const { generation, worker, collection_id } = event.data;
      return { generation, worker, collection_id };
    }
    case "DocumentReplaced":
    case "DocumentReprocessed": {
      const { generation, worker } = event.data;
      return { generation, worker };
    }
    default:
      return undefined;
  }
}

/** The next attempt at a reading that no process holds, or the end of an extraction that has expired. */
async function findLostReading(
  { log, send, now = currentTime }: ReadingsOptions,
  head: StreamHead,
  isHeld: (key: string) => boolean,
): Promise<LostWork<ReadingJob> | undefined> {
  const { stream, organization_id, worker } = head;
  const open = await openReading(log, head, now);
  if (!open) return undefined;
  if (open === "expired") {
    const expire = () => send(head, ExpireExtraction.type, { extraction_id: parseStreamName(stream).id });
    return { key: stream, worker: null, needsRoom: false, takeOver: expire };
  }
  const { generation, attempt } = open;
  const job: ReadingJob = { stream, organization_id, generation, attempt: attempt + 1, trace: currentTrace() };
  // this process runs the recorded attempt, or has queued the next one
  if (isHeld(leaseKey({ ...job, attempt })) || isHeld(leaseKey(job))) return undefined;
  return { key: leaseKey(job), worker, needsRoom: true, takeOver: async (start) => start(job) };
}

async function openReading(
  log: Pick<EventLog, "read">,
  head: StreamHead,
  now: () => number,
): Promise<{ generation: number; attempt: number } | "expired" | undefined> {
  if (parseStreamName(head.stream).aggregate === "document") {
    const { state }: { state: DocumentState } = await readState(log, head, document);
    const found = storedDocument(state);
    return found?.status === "queued" || found?.status === "reading" ? found : undefined;
  }
  const { state }: { state: ExtractionState } = await readState(log, head, extraction);
  if (state.status === "absent" || state.status === "gone") return undefined;
  if (Date.parse(state.expires_at) <= now()) return "expired";
  return state.status === "ended" ? undefined : { generation: 1, attempt: state.attempt };
}
