import { setTimeout as sleep } from "node:timers/promises";
import { currentTime } from "#events/clock.ts";
import { newCommand } from "#events/envelope.ts";
import { deriveId, streamName } from "#events/ids.ts";
import { Unavailable, type TurnEnd } from "#events/ports.ts";
import { StartTurn } from "#events/thread.ts";
import { thread } from "../../deciders/thread.ts";
import { findState } from "../../states.ts";
import { readTurnBounds } from "../../turns/turnEvents.ts";
import { StepFailure } from "../tick.ts";
import { admitTurn, type AdmittedTurn } from "./admitTurn.ts";
import { invalidInput } from "./input.ts";
import type { StepAttempt } from "./step.ts";
import { findTurnEnd } from "./turnEnd.ts";
import {
  buildStart,
  findRoute,
  isTurnStart,
  type AdmittedStart,
  type TurnDeps,
  type TurnIds,
  type TurnRequest,
} from "./turnStart.ts";

const COMMAND_TIMEOUT_MS = 15_000;
/** Interval of looking for the end of a turn in the log, because its last frame may be lost. */
const POLL_MS = 2_000;
/** How long a turn waits for another turn of its thread, and how often it tries. */
const MAX_BUSY_MS = 20_000;
const BUSY_RETRY_MS = 100;

export interface CompletedTurn extends Pick<TurnIds, "thread_id" | "turn_id"> {
  end: Extract<TurnEnd, { status: "completed" }>;
}

/** The ids of one try. They differ between tries, because a failed turn keeps its ids. */
function deriveIds({ run_id, key }: StepAttempt, { call, thread_id }: TurnRequest, n: number): TurnIds {
  const id = (what: string) => deriveId("call of a step", what, run_id, key, ...call, String(n));
  return {
    thread_id: thread_id ?? id("thread"),
    turn_id: id("turn"),
    command_id: `${id("command")}${id("its other half")}`.replaceAll("-", ""),
  };
}

interface CallProgress {
  ids: TurnIds;
  isStarted: boolean;
  end?: TurnEnd;
}

/** How far earlier attempts of the step came with this call. After a failed turn, each attempt makes one more try. */
async function findProgress({ log }: TurnDeps, step: StepAttempt, request: TurnRequest): Promise<CallProgress> {
  const tries = Array.from({ length: step.attempt }, (_, n) => deriveIds(step, request, n));
  const first = { ids: tries[0]!, isStarted: false };
  if (step.attempt === 1) return first;
  const byThread = Map.groupBy([...tries.entries()].toReversed(), ([, ids]) => streamName("thread", ids.thread_id));
  const heads = await log.heads([...byThread.keys()]);
  for (const [stream, ofThread] of byThread) {
    if (!heads.has(stream)) continue;
    // together, because a search for a turn that never began reads the whole thread
    const events = await readTurnBounds(log, stream, ...ofThread.map(([, { turn_id }]) => turn_id));
    const newest = ofThread.find(([, { turn_id }]) => events.some((event) => isTurnStart(event, turn_id)));
    if (!newest) continue;
    const [n, ids] = newest;
    const end = findTurnEnd(events, ids.turn_id);
    const next = end && end.status !== "completed" ? tries[n + 1] : undefined;
    return next ? { ids: next, isStarted: false } : { ids, isStarted: true, end };
  }
  return first;
}

/** Starts the turn once the limits admit it. */
async function startAdmitted(
  deps: TurnDeps,
  step: StepAttempt,
  request: TurnRequest,
  ids: TurnIds,
  signal: AbortSignal,
): Promise<AdmittedTurn> {
  const route = await findRoute(deps, step, request.model);
  const { model, prompt, agent } = request;
  const models = route?.targets ?? [model];
  const wanted = { turn_id: ids.turn_id, model, models, prompt, agent_id: agent?.agent_id ?? null, streamed: false };
  const admitted = await admitTurn(deps.askLimits, step, wanted, signal);
  try {
    const { reserved } = admitted;
    await startTurn(deps, step, request, { ids, route, reserved }, signal);
    return admitted;
  } catch (error) {
    // a turn whose start has an unknown outcome may be running
    if (!(error instanceof Unavailable)) admitted.withdraw();
    throw error;
  }
}

async function startTurn(
  deps: TurnDeps,
  step: StepAttempt,
  request: TurnRequest,
  admitted: AdmittedStart,
  signal: AbortSignal,
): Promise<void> {
  const { data, ...start } = await buildStart(deps, step, request, admitted);
  for (const giveUpAt = performance.now() + MAX_BUSY_MS; ; await sleep(BUSY_RETRY_MS, undefined, { signal })) {
    const ends_by = new Date((deps.now ?? currentTime)() + deps.turn_ms).toISOString();
    const command = newCommand(StartTurn.type, {
      ...start,
      timeout_ms: COMMAND_TIMEOUT_MS,
      data: { ...data, ends_by },
    });
    const { rejection } = await deps.handle(command);
    if (!rejection) return;
    if (rejection.code === "thread_not_found") throw invalidInput("agent: thread_id: the run has no such thread.");
    if (rejection.code !== "thread_busy" || performance.now() > giveUpAt)
      throw new StepFailure("step_error", rejection.message);
  }
}

/** Polls the log until the turn has ended. */
async function pollTurnEnd({ log }: TurnDeps, { thread_id, turn_id }: TurnIds, signal: AbortSignal): Promise<TurnEnd> {
  const stream = streamName("thread", thread_id);
  for (;;) {
    await sleep(POLL_MS, undefined, { signal });
    const state = await findState(log, stream, thread);
    if (state.status === "open" && state.turn?.id === turn_id) continue;
    const end = findTurnEnd(await readTurnBounds(log, stream, turn_id), turn_id);
    if (end) return end;
  }
}

function requireCompleted(end: TurnEnd): CompletedTurn["end"] {
  if (end.status === "completed") return end;
  if (end.status === "refused" && end.code === "model_not_found") throw invalidInput(end.message);
  throw new StepFailure("step_error", end.message || "The model provider returned an error.");
}

/**
 * Runs a call's turn and waits for its end. If an earlier attempt of the step started the turn, resumes that one, and starts
 * another only if it failed. Throws StepFailure, or the signal's reason; in that case the turn continues.
 */
export async function completeTurn(
  deps: TurnDeps,
  step: StepAttempt,
  request: TurnRequest,
  signal: AbortSignal,
): Promise<CompletedTurn> {
  const { ids, isStarted, end } = await findProgress(deps, step, request);
  const { thread_id, turn_id } = ids;
  if (end) return { thread_id, turn_id, end: requireCompleted(end) };
  const lastFrame = Promise.withResolvers<TurnEnd>();
  const unsubscribe = deps.frames.subscribe(step.organization_id, turn_id, (frame) => {
    if (frame.type === "end") lastFrame.resolve(frame.end);
  });
  const polling = new AbortController();
  try {
    const admitted = isStarted ? undefined : await startAdmitted(deps, step, request, ids, signal);
    const polled = pollTurnEnd(deps, ids, AbortSignal.any([signal, polling.signal]));
    const first = await Promise.race([lastFrame.promise, polled]);
    admitted?.end(first);
    return { thread_id, turn_id, end: requireCompleted(first) };
  } finally {
    polling.abort();
    unsubscribe();
  }
}
