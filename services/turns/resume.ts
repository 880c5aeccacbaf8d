import type { EventLog, StreamHead } from "#events/ports.ts";
import { type ThreadEvent } from "#events/thread.ts";
import { ExpireToolApprovals } from "#events/threadApprovals.ts";
import { parseTraceHeaders, type Trace } from "#events/trace.ts";
import type { RunningTurn } from "../deciders/threadState.ts";
import type { CommittedCommand } from "../handle.ts";
import type { LostWork } from "../leasedWork.ts";
import type { Send } from "../send.ts";
import { readParkedFrames, findProgressEvents, type TakeOverOptions } from "./takeOver.ts";
import { readNewestTurn } from "./turnEvents.ts";
import { findTurnStart, turnFromEvent, type TurnToRun } from "./turnToRun.ts";

/* A parked turn has no worker: the commit that decides the last of its approvals resumes it (ADR 48). */

type Resumption = Extract<ThreadEvent, { type: "TurnResumed" }>["data"];

/** The turn that a commit gives to this worker. */
export const findResumption = (
  { events }: Pick<CommittedCommand, "events">,
  worker: string,
): Resumption | undefined => {
  const data = events.find(({ type }) => type === "TurnResumed")?.data as Resumption | undefined;
  return data?.worker === worker ? data : undefined;
};

/** The next attempt of a resumed turn, with the frames its readers have, and its trace; undefined if the turn was deleted. */
export async function loadResumed(
  { log, readFrames }: Pick<TakeOverOptions, "readFrames"> & { log: Pick<EventLog, "read" | "readNewest"> },
  stream: string,
  { turn_id, attempt, ends_by }: Resumption,
): Promise<{ turn: TurnToRun; trace: Trace | undefined } | undefined> {
  const events = await readNewestTurn(log, stream);
  const started = findTurnStart(events, turn_id);
  if (!started) return undefined;
  const receivedFrames = await readParkedFrames({ readFrames }, events, turn_id);
  const turn = turnFromEvent(started, attempt, {
    steps: findProgressEvents(events, turn_id),
    receivedFrames,
    wasParked: true,
    ends_by,
  });
  return { turn, trace: parseTraceHeaders(started.meta) };
}

/** A parked turn with expired approvals, as work for the sweep. If the turn resumes, the commit starts it. */
export const expireApprovals = (send: Send, head: StreamHead, { id, attempt }: RunningTurn): LostWork<TurnToRun> => ({
  key: `${id}/${attempt}`,
  worker: null,
  needsRoom: false,
  takeOver: () => send(head, ExpireToolApprovals.type, { turn_id: id, attempt }),
});
