import type { CommandResult, RecordedEvent } from "#events/envelope.ts";
import { newestAttempt } from "#events/newestAttempt.ts";
import type { EventLog, FramePayload, Frames, StreamHead } from "#events/ports.ts";
import { FailTurn, NoteTargetFailure, RefuseTurn, TakeOverTurn, type TurnOutput } from "#events/thread.ts";
import { turnUsage } from "#events/turnUsage.ts";
import type { RunningTurn } from "../deciders/threadState.ts";
import type { Send } from "../send.ts";
import { isTargetFailure, readFailures, readReplacedAnswers, type ReplacedAnswer } from "./targetFailures.ts";
import { findRecordedRequest, toTargetFailure, hasLostRequest, type LostRequest } from "./lostRequest.ts";
import { framesSoFar, joinFrames } from "./frames.ts";
import { citeSources, isTurnStep, joinOutputs, readRounds, type Round } from "./round.ts";
import { readNewestTurn } from "./turnEvents.ts";
import { findTurnStart, turnFromEvent, type TurnAttempt, type TurnToRun } from "./turnToRun.ts";

/** Attempts at one turn that may lose their worker. */
const MAX_ATTEMPTS = 3;
/** Workers that may die while they hold a turn, because the turn itself may be the cause. */
const MAX_DEATHS = 2;
const LOST = "The process that worked on this turn was lost.";
const LATE = "The turn did not finish within the time that it has.";
const KILLS_WORKERS = "The turn was given up: two processes died while they worked on it.";

/** Whether a turn failed with this message because two workers died. Its output is what the log and the bus still had. */
export const isGivenUp = (message: string): boolean => message === KILLS_WORKERS;

export interface TakeOverOptions {
  log: Pick<EventLog, "read" | "readNewest" | "hasDied">;
  frames: Pick<Frames, "loadFrames" | "publish">;
  worker: string;
  send: Send;
  /** Stores all frames that readers of a response received; resolves with the blob's key. */
  storeFrames(turn: TurnAttempt, frames: FramePayload[]): Promise<string>;
  /** Usage of the request that the lost attempt was waiting for; undefined if unknown. */
  estimateLost(turn: TurnToRun): Promise<LostRequest | undefined>;
  /** The frames in a blob of a turn; none if it is gone. */
  readFrames(turn_id: string, blob: string): Promise<FramePayload[]>;
}

/** Progress of a lost turn, according to the log and to the frames that readers received. */
interface TurnProgress {
  output: TurnOutput;
  rounds: Round[];
  /** Usage of requests whose answers are not part of the turn. */
  replaced: ReplacedAnswer[];
  frames: FramePayload[];
  /** Whether readers have seen text of a round that is not recorded. */
  hasUnrecordedText: boolean;
}

/** The frames of the newest attempt that sent any, up to the first gap. Readers hold back what follows a gap, and its round is uncertain. */
async function receivedFrames({ frames }: TakeOverOptions, head: StreamHead, turn: string): Promise<FramePayload[]> {
  const sent = (await frames.loadFrames(head.organization_id, turn)).filter((frame) => frame.type !== "end");
  // A worker that was only slow may have sent frames at the same time as its successor.
  const received: FramePayload[] = [];
  for (const { attempt: _, n, ...frame } of newestAttempt(sent).toSorted((a, b) => a.n - b.n))
    if (n === received.length) received.push(frame);
  return received;
}

const isRouted = (events: RecordedEvent[], turn: string): boolean =>
  (findTurnStart(events, turn)?.data as { route?: object } | undefined)?.route !== undefined;

async function measureProgress(events: RecordedEvent[], turn: string, frames: FramePayload[]): Promise<TurnProgress> {
  const rounds = await readRounds(events, turn, async () => undefined);
  const recorded = joinOutputs(rounds);
  const longer = (type: "text" | "reasoning") => {
    const seen = joinFrames(frames, type);
    return seen.length > recorded[type].length ? seen : recorded[type];
  };
  const output = { ...recorded, text: longer("text"), reasoning: longer("reasoning") };
  return {
    output: citeSources(output, rounds),
    rounds,
    replaced: readReplacedAnswers(readFailures(events, turn), isRouted(events, turn)),
    frames: framesSoFar(rounds, frames),
    hasUnrecordedText: output.text !== recorded.text || output.reasoning !== recorded.reasoning,
  };
}

/** Fails a turn with its output so far. Without output, refuses it as if it had not been sent. */
async function giveUp(
  options: TakeOverOptions,
  head: StreamHead,
  turn: Pick<RunningTurn, "id" | "attempt" | "of_agent">,
  { output, rounds, replaced, frames }: TurnProgress,
  message: string,
): Promise<CommandResult> {
  const ids = { turn_id: turn.id, attempt: turn.attempt };
  const { organization_id, stream } = head;
  const parts: ReplacedAnswer[] = [...replaced, ...rounds];
  const isPaid = output.text !== "" || output.reasoning !== "" || parts.length > 0;
  // The client has the id of a response, so it fails instead of being refused.
  const isFailed = isPaid || turn.of_agent;
  const used = turnUsage(
    parts,
    parts.some(({ model }) => model !== undefined),
  );
  const attempt: TurnAttempt = { ...ids, organization_id, thread: stream, request_id: options.worker };
  const stored = turn.of_agent && { frames: await options.storeFrames(attempt, frames) };
  const result = isFailed
    ? await options.send(head, FailTurn.type, { ...ids, message, said: output, ...used, ...stored })
    : await options.send(head, RefuseTurn.type, { ...ids, code: null, message });
  const { position } = result;
  if (position === 0) return result;
  options.frames.publish(organization_id, turn.id, {
    attempt: turn.attempt,
    n: Number.MAX_SAFE_INTEGER,
    type: "end",
    position,
    end: isFailed ? { status: "failed", said: output, message, ...used } : { status: "refused", code: null, message },
  });
  return result;
}

/** Fails a parked turn with its output so far, which cancels its approvals. */
export async function failParked(
  options: TakeOverOptions,
  head: StreamHead,
  turn: RunningTurn,
  message: string,
): Promise<CommandResult> {
  const events = await readNewestTurn(options.log, head.stream);
  const frames = await readParkedFrames(options, events, turn.id);
  return giveUp(options, head, turn, await measureProgress(events, turn.id, frames), message);
}

/** The frames that readers had when the turn was last parked. */
export async function readParkedFrames(
  { readFrames }: Pick<TakeOverOptions, "readFrames">,
  events: RecordedEvent[],
  turn_id: string,
): Promise<FramePayload[]> {
  const parked = events.findLast(
    ({ type, data }) => type === "TurnParked" && (data as { turn_id: string }).turn_id === turn_id,
  );
  return parked ? readFrames(turn_id, (parked.data as { frames: string }).frames) : [];
}

/** The events that show an attempt how far earlier ones got. */
export const findProgressEvents = (events: RecordedEvent[], turn: string): RecordedEvent[] =>
  events.filter((event) => isTurnStep(event, turn) || isTargetFailure(event, turn));

/** The request that the lost attempt had sent to its model, if any. Not looked up for a turn that may kill workers. */
async function findLost(
  options: TakeOverOptions,
  turn: TurnToRun,
  { worker, rounds, isDeadly }: { worker: string | null; rounds: Round[]; isDeadly: boolean },
): Promise<LostRequest | undefined> {
  if (!hasLostRequest(worker, rounds)) return undefined;
  const known = findRecordedRequest(readFailures(turn.steps, turn.turn_id), rounds.length);
  return isDeadly ? known : options.estimateLost(turn);
}

/** Why a turn is not run again after a takeover; undefined if it is. */
function reasonToEnd(
  turn: Pick<RunningTurn, "awaited_by" | "resumed">,
  { attempt, isLate, isDeadly, hasUnrecordedText }: Ending,
): string | undefined {
  if (isLate) return LATE;
  if (isDeadly) return KILLS_WORKERS;
  // Readers keep what they have seen, so a turn with unrecorded text cannot be generated again. Readers of a run's events start
  // over, however.
  const isContradicted = hasUnrecordedText && turn.awaited_by === undefined;
  return attempt - turn.resumed > MAX_ATTEMPTS || isContradicted ? LOST : undefined;
}

interface Ending {
  attempt: number;
  isLate: boolean;
  isDeadly: boolean;
  hasUnrecordedText: boolean;
}

/** Ends a late turn that was not asking its model; undefined if it was. */
async function endLate(options: TakeOverOptions, head: StreamHead, turn: RunningTurn, received: FramePayload[]) {
  const progress = await measureProgress(await readNewestTurn(options.log, head.stream), turn.id, received);
  return hasLostRequest(turn.worker, progress.rounds) ? undefined : giveUp(options, head, turn, progress, LATE);
}

/**
 * Takes the lease of the turn's next attempt; undefined if another worker was faster. `isDeadly`: too many workers died while they
 * held the turn.
 */
async function takeLease({ log, send, worker }: TakeOverOptions, head: StreamHead, turn: RunningTurn) {
  const attempt = turn.attempt + 1;
  const isForeign = turn.worker !== null && turn.worker !== worker;
  const worker_died = isForeign && (await log.hasDied(turn.worker!));
  const { position } = await send(head, TakeOverTurn.type, { turn_id: turn.id, attempt, worker, worker_died });
  if (position === 0) return undefined;
  return { attempt, isDeadly: turn.deaths + (worker_died ? 1 : 0) >= MAX_DEATHS };
}

/**
 * Takes over a lost turn and returns the turn to run. If it is late or cannot be resumed, ends it and returns undefined. The
 * request that its worker was waiting for is counted (ADR 98).
 */
export async function takeOverTurn(
  options: TakeOverOptions,
  head: StreamHead,
  turn: RunningTurn,
  isLate: boolean,
): Promise<TurnToRun | undefined> {
  const received = await receivedFrames(options, head, turn.id);
  if (isLate && (await endLate(options, head, turn, received))) return undefined;
  const lease = await takeLease(options, head, turn);
  if (!lease) return undefined;
  const { attempt, isDeadly } = lease;
  // The log now holds everything that the lost attempt could record; its later commands are refused.
  const events = await readNewestTurn(options.log, head.stream);
  const started = findTurnStart(events, turn.id);
  const progress = await measureProgress(events, turn.id, received);
  const known = { steps: findProgressEvents(events, turn.id), receivedFrames: received, wasParked: turn.resumed > 0 };
  const resumed = started && turnFromEvent(started, attempt, { ...known, ends_by: turn.ends_by });
  const { rounds, replaced, hasUnrecordedText } = progress;
  const lost = resumed && (await findLost(options, resumed, { worker: turn.worker, rounds, isDeadly }));
  const message = resumed ? reasonToEnd(turn, { attempt, isLate, isDeadly, hasUnrecordedText }) : LOST;
  if (message !== undefined) {
    const more = lost ? readReplacedAnswers([toTargetFailure(rounds.length, lost)], resumed?.route != null) : [];
    await giveUp(options, head, { ...turn, attempt }, { ...progress, replaced: [...replaced, ...more] }, message);
    return undefined;
  }
  if (!lost) return resumed;
  const failure = { turn_id: turn.id, attempt, ...toTargetFailure(rounds.length, lost) };
  await options.send(head, NoteTargetFailure.type, failure);
  return { ...resumed, steps: findProgressEvents(await readNewestTurn(options.log, head.stream), turn.id) };
}
