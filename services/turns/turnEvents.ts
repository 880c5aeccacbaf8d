import type { RecordedEvent } from "#events/envelope.ts";
import type { EventLog } from "#events/ports.ts";
import type { ThreadEvent } from "#events/thread.ts";
import { findTurnStart } from "./turnToRun.ts";

/** Events and bytes that are read at once. */
const PAGE_EVENTS = 200;
const PAGE_BYTES = 1_000_000;
const MAX_VERSION = 2 ** 31 - 1;

const ALL: Record<ThreadEvent["type"], true> = {
  TurnStarted: true,
  TurnTakenOver: true,
  TargetFailed: true,
  RoundRequested: true,
  ToolFinished: true,
  ToolStarted: true,
  ToolApprovalRequested: true,
  ToolApprovalDecided: true,
  ToolApprovalExpired: true,
  ToolApprovalCancelled: true,
  TurnParked: true,
  TurnResumed: true,
  TurnCompleted: true,
  TurnFailed: true,
  TurnStopped: true,
  TurnRefused: true,
  TurnDeleted: true,
  ThreadDeleted: true,
};
const TYPES = Object.keys(ALL);

const isOf = ({ type, data }: RecordedEvent, turn_id: string): boolean =>
  type === "ThreadDeleted" || (data as { turn_id?: string }).turn_id === turn_id;

/**
 * The events of a turn, and the deletion of its thread, in order; none if it never started. Read backwards to the turn's start, a
 * page at a time: its thread may have gigabytes of other turns, and of those nothing is kept.
 */
export async function readTurnEvents(
  log: Pick<EventLog, "readNewest">,
  thread: string,
  turn_id: string,
): Promise<RecordedEvent[]> {
  const own: RecordedEvent[] = [];
  for (let before = MAX_VERSION; ; ) {
    const query = { before, types: TYPES, limit: PAGE_EVENTS, bytes: PAGE_BYTES };
    const page = await log.readNewest(thread, query);
    const found = page.filter((event) => isOf(event, turn_id));
    own.push(...found.toReversed());
    const oldest = page[0]?.version ?? 1;
    if (findTurnStart(found, turn_id)) return own.reverse();
    if (oldest <= 1) return [];
    before = oldest;
  }
}
