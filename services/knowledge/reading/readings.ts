import { ExpireExtraction, type ExtractionEvent } from "#events/extraction.ts";
import type { DocumentEvent } from "#events/document.ts";
import { partsOf } from "#events/ids.ts";
import { currentTrace, withTrace } from "#events/spans.ts";
import type { EventLog, StreamHead } from "#events/ports.ts";
import { document } from "../../deciders/document.ts";
import { stored, type DocumentState } from "../../deciders/documentState.ts";
import { extraction, type ExtractionState } from "../../deciders/extraction.ts";
import type { Handled } from "../../handle.ts";
import { stateOf } from "../../states.ts";
import type { Send } from "../../send.ts";
import { createFairQueue } from "./fairQueue.ts";
import type { Job } from "./job.ts";

/** Readings that wait in one process; what comes on top belongs to nobody until the sweep brings it. */
const ROOM = 10_000;
/** As long as this many wait here, what others have lost is left to processes with less to do. */
const SHORT = 100;

export interface ReadingsOptions {
  log: Pick<EventLog, "read">;
  worker: string;
  /** How many readings run at once. */
  atOnce: number;
  send: Send;
  run(job: Job): Promise<void>;
  onError(error: unknown, job: Job): void;
}

const keyOf = ({ stream, generation, attempt }: Job): string => `${stream}/${generation}/${attempt}`;

/** The readings of this process: a queue in which organizations take turns, and those that run. */
export function createReadings(options: ReadingsOptions) {
  const queue = createFairQueue<Job>();
  /** Streams of what waits or runs, by attempt. */
  const known = new Map<string, string>();
  const running = new Map<string, Promise<void>>();
  /** Readings of this process that the last sweep saw before they were known to wait or run here. */
  const suspects = new Set<string>();
  let stopped = false;

  const begin = (job: Job): void => {
    const key = keyOf(job);
    const run = withTrace(job.trace, () => options.run(job)).catch((error) => options.onError(error, job));
    running.set(
      key,
      run.finally(() => {
        running.delete(key);
        known.delete(key);
        fill();
      }),
    );
  };
  const fill = (): void => {
    while (!stopped && running.size < options.atOnce) {
      const job = queue.next();
      if (!job) return;
      begin(job);
    }
  };
  const add = (job: Job): void => {
    const key = keyOf(job);
    if (stopped || known.has(key)) return;
    known.set(key, job.stream);
    queue.add(job);
    fill();
  };

  return {
    room: (): boolean => queue.size() < ROOM,
    /** Streams that wait or are read here. */
    busy: (): string[] => [...known.values()],

    /** What this process does with work that it has just committed. */
    afterCommit({ command, events }: Handled): void {
      const { stream, organization_id } = command;
      for (const event of events as (DocumentEvent | ExtractionEvent)[]) {
        const queued = queuedBy(event);
        if (queued?.worker === options.worker)
          add({ stream, organization_id, generation: queued.generation, attempt: 1, trace: currentTrace() });
      }
    },

    /** Makes sure that an open document or extraction moves: nothing to do, taken here where the queue is short, or ended. */
    async attend(head: StreamHead): Promise<void> {
      const open = await openWork(options.log, head);
      if (open === "over") {
        const id = partsOf(head.stream).id;
        await options.send(head, ExpireExtraction.type, { extraction_id: id });
      }
      if (!open || open === "over" || queue.size() >= SHORT) return;
      const { stream, organization_id } = head;
      const { generation, attempt } = open;
      const job: Job = { stream, organization_id, generation, attempt: attempt + 1, trace: currentTrace() };
      const key = keyOf(job);
      if (known.has(keyOf({ ...job, attempt })) || known.has(key)) return;
      // A row can be seen before its commit's answer has come back here: act at the second sight.
      if (head.worker === options.worker && !suspects.delete(key)) return void suspects.add(key);
      add(job);
    },

    /** Takes nothing more out of the queue; resolves when what is read now has ended. What waits is left to other workers. */
    async stop(): Promise<void> {
      stopped = true;
      queue.clear();
      await Promise.all(running.values());
    },
  };
}

/** The work that an event begins, and who has it. */
function queuedBy(event: DocumentEvent | ExtractionEvent): { generation: number; worker: string | null } | undefined {
  if (event.type === "ExtractionRequested") return { generation: 1, worker: event.data.worker };
  const starts = ["DocumentUploaded", "DocumentReplaced", "DocumentReprocessed"].includes(event.type);
  return starts ? (event.data as { generation: number; worker: string | null }) : undefined;
}

/** What is to be done for a head that the sweep has found; "over": an extraction whose time has come. */
async function openWork(
  log: Pick<EventLog, "read">,
  head: StreamHead,
): Promise<{ generation: number; attempt: number } | "over" | undefined> {
  if (partsOf(head.stream).aggregate === "document") {
    const { state }: { state: DocumentState } = await stateOf(log, head, document);
    const found = stored(state);
    return found?.status === "queued" || found?.status === "reading" ? found : undefined;
  }
  const { state }: { state: ExtractionState } = await stateOf(log, head, extraction);
  if (state.status === "absent" || state.status === "gone") return undefined;
  if (Date.parse(state.expires_at) <= Date.now()) return "over";
  return state.status === "ended" ? undefined : { generation: 1, attempt: state.attempt };
}
