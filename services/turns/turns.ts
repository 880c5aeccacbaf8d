import { currentTime } from "#events/clock.ts";
import type { CommandResult } from "#events/envelope.ts";
import type { EventLog, StreamHead } from "#events/ports.ts";
import { withTrace } from "#events/spans.ts";
import { parseTraceHeaders } from "#events/trace.ts";
import { thread, type ThreadState } from "../deciders/thread.ts";
import { isParked, type RunningTurn } from "../deciders/threadState.ts";
import type { CommittedCommand } from "../handle.ts";
import { createLeasedWork, type LostWork } from "../leasedWork.ts";
import { findHead, readState } from "../states.ts";
import { expireApprovals, findResumption, loadResumed } from "./resume.ts";
import { failParked, takeOverTurn, type TakeOverOptions } from "./takeOver.ts";
import { readNewestStart } from "./turnEvents.ts";
import { findTurnStart, turnFromEvent, type TurnToRun } from "./turnToRun.ts";

/** Turns that one process runs at the same time. */
const MAX_TURNS = 1_000;
/** An organization's share: when its provider hangs, there is still room for turns of others. */
const MAX_TURNS_OF_ORGANIZATION = MAX_TURNS / 2;

export interface TurnsOptions extends TakeOverOptions {
  /** The clock for the ends of turns. */
  now?(): number;
  log: TakeOverOptions["log"] & Pick<EventLog, "heads">;
  /** Runs a turn to its end, or until `stopping` aborts; then another worker takes it over. */
  run(turn: TurnToRun, stopping: AbortSignal): Promise<void>;
  onError(error: unknown, turn: Pick<TurnToRun, "turn_id" | "request_id">): void;
}

const leaseKey = (turn_id: string, attempt: number): string => `${turn_id}/${attempt}`;

function findStartedTurns({ command, events, version }: CommittedCommand) {
  const { organization_id, stream, request_id, principal } = command;
  return events
    .filter(({ type }) => type === "TurnStarted")
    .map(({ data, personal }) => ({
      worker: (data as { worker: string | null }).worker,
      work: turnFromEvent({ organization_id, stream, version, data, personal, meta: { request_id, principal } }, 1),
    }));
}

/** Continues a turn that a commit of this process resumed. If this fails, a sweep takes it over. */
async function resume(
  options: TurnsOptions,
  { command, events }: CommittedCommand,
  start: (turn: TurnToRun) => unknown,
): Promise<void> {
  const resumed = findResumption({ events }, options.worker);
  if (!resumed) return;
  try {
    const loaded = await loadResumed(options, command.stream, resumed);
    // the turn belongs to its request's trace, not to that of the decision
    if (loaded) withTrace(loaded.trace, () => start(loaded.turn));
  } catch (error) {
    options.onError(error, { turn_id: resumed.turn_id, request_id: command.request_id });
  }
}

async function readTurnInFlight(log: Pick<EventLog, "read">, head: StreamHead): Promise<RunningTurn | null> {
  const { state }: { state: ThreadState } = await readState(log, head, thread);
  return state.status === "open" ? state.turn : null;
}

/** The turns of this process: starts and counts them, and takes over those lost by other workers. */
export function createTurns(options: TurnsOptions) {
  async function open(head: StreamHead, isHeld: (key: string) => boolean): Promise<LostWork<TurnToRun> | undefined> {
    const turn = await readTurnInFlight(options.log, head);
    if (!turn || isHeld(leaseKey(turn.id, turn.attempt))) return undefined;
    if (isParked(turn)) return expireApprovals(options.send, head, turn);
    const isLate = Date.parse(turn.ends_by) < (options.now ?? currentTime)();
    return {
      key: leaseKey(turn.id, turn.attempt),
      worker: turn.worker,
      needsRoom: !isLate,
      async takeOver(start) {
        const newest = await readNewestStart(options.log, head.stream);
        const started = newest && findTurnStart([newest], turn.id);
        const trace = started && parseTraceHeaders(started.meta);
        await withTrace(trace, async () => {
          const resumed = await takeOverTurn(options, head, turn, isLate);
          if (resumed) start(resumed);
        });
      },
    };
  }

  const turns = createLeasedWork<TurnToRun, { ended: Promise<void> }>({
    worker: options.worker,
    limits: { total: MAX_TURNS, perTenant: MAX_TURNS_OF_ORGANIZATION },
    identify: ({ turn_id, attempt, thread: stream, organization_id }) => ({
      key: leaseKey(turn_id, attempt),
      stream,
      organization_id,
    }),
    leasedBy: findStartedTurns,
    open,
    start: (turn, stopping) => ({ ended: options.run(turn, stopping) }),
    onError: options.onError,
  });

  /** Fails a thread's turn if it waits for a person. */
  async function endParked(stream: string, message: string): Promise<CommandResult | undefined> {
    const head = await findHead(options.log, stream);
    const turn = head && (await readTurnInFlight(options.log, head));
    return head && turn && isParked(turn) ? failParked(options, head, turn, message) : undefined;
  }

  return {
    start: turns.start,
    endParked,
    hasRoom: turns.hasRoom,
    busy: turns.busy,
    idle: turns.idle,
    afterCommit(handled: CommittedCommand): void {
      turns.afterCommit(handled);
      void resume(options, handled, turns.start);
    },
    resumeWork: turns.resumeWork,
    /** Leaves the running turns to other workers. */
    leave: (): void => void turns.stop(),
  };
}
