import { parseStreamName } from "#events/ids.ts";
import type { LogLimits } from "#events/logLimits.ts";
import type { StreamHead } from "#events/ports.ts";
import { EndSourceRead, ReadSource, TakeSourceRead, type SourceEvent } from "#events/source.ts";
import { source as sourceDecider, storedSource } from "../deciders/source.ts";
import type { CommittedCommand } from "../handle.ts";
import { createLeasedWork, type LostWork } from "../leasedWork.ts";
import { readState } from "../states.ts";
import { readSource, type ReadSourceDeps, type SourceRead } from "./readSource.ts";

/** Reads that one process holds. Most of the time they wait for servers. */
const MAX_HELD = 200;
const MAX_HELD_OF_ORGANIZATION = 20;
/** Lost processes after which a read ends. */
const MAX_ATTEMPTS = 20;
const WORKERS_LOST = "The read ended too often without a result.";

interface SourcesDeps extends ReadSourceDeps {
  logLimits: Pick<LogLimits, "refusal">;
  onError(error: unknown, stream: string): void;
}

const keyOf = ({ stream, read, attempt }: Pick<SourceRead, "stream" | "read" | "attempt">): string =>
  `${stream}/${read}/${attempt}`;

function findLeased({ command: { stream, organization_id }, events }: CommittedCommand) {
  const target = { stream, organization_id, source_id: parseStreamName(stream).id };
  return (events as SourceEvent[]).flatMap(({ type, data }) => {
    switch (type) {
      case "SourceCreated":
        return [{ worker: data.worker, work: { ...target, read: 1, attempt: 1 } }];
      case "SourceReadStarted":
        return [{ worker: data.worker, work: { ...target, read: data.read, attempt: 1 } }];
      case "SourceReadTaken":
        return [{ worker: data.worker, work: { ...target, read: data.read, attempt: data.attempt } }];
      default:
        return [];
    }
  });
}

/** A read that is due, or whose process was lost. */
async function findLostRead(
  { log, send, worker, logLimits }: SourcesDeps,
  head: StreamHead,
  isHeld: (key: string) => boolean,
): Promise<LostWork<never> | undefined> {
  const state = storedSource((await readState(log, head, sourceDecider)).state);
  if (!state) return undefined;
  const source_id = parseStreamName(head.stream).id;
  const { reading, next, reads: read } = state;
  // it waits, because each read writes events, also if all that it finds is refused
  if (!reading && logLimits.refusal(head.organization_id)) return undefined;
  if (!reading)
    // the commit of SourceReadStarted starts the read
    return {
      key: head.stream,
      worker: null,
      needsRoom: true,
      takeOver: () => send(head, ReadSource.type, { source_id, due_at: next }),
    };
  const { attempt } = reading;
  const key = keyOf({ stream: head.stream, read, attempt });
  if (isHeld(key)) return undefined;
  if (attempt >= MAX_ATTEMPTS) {
    const end = () => send(head, EndSourceRead.type, { source_id, read, attempt, error: WORKERS_LOST });
    return { key, worker: reading.worker, needsRoom: false, takeOver: end };
  }
  const take = () => send(head, TakeSourceRead.type, { source_id, read, attempt: attempt + 1, worker });
  return { key, worker: reading.worker, needsRoom: true, takeOver: take };
}

/** The reads of sources that this process holds. */
export function createSources(deps: SourcesDeps) {
  const reads = createLeasedWork<SourceRead, { ended: Promise<void> }>({
    worker: deps.worker,
    limits: { total: MAX_HELD, perTenant: MAX_HELD_OF_ORGANIZATION },
    identify: (work) => ({ key: keyOf(work), stream: work.stream, organization_id: work.organization_id }),
    leasedBy: findLeased,
    open: (head, isHeld) => findLostRead(deps, head, isHeld),
    start: (work, stopping) => ({ ended: readSource(deps, work, stopping) }),
    onError: (error, { stream }) => deps.onError(error, stream),
  });
  const { hasRoom, busy, resumeWork, stop } = reads;
  return {
    hasRoom,
    busy,
    resumeWork,
    stop,
    afterCommit(handled: CommittedCommand): void {
      if (parseStreamName(handled.command.stream).aggregate === "source") reads.afterCommit(handled);
    },
  };
}
