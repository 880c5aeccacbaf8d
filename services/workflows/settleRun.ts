import { currentTime } from "#events/clock.ts";
import { parseStreamName, streamName } from "#events/ids.ts";
import type { EventLog, StreamHead } from "#events/ports.ts";
import { AnswerRunWaits, SettleRun, type Watcher } from "#events/runLinks.ts";
import type { AwaitedTurn, Settlement } from "../deciders/runLinkState.ts";
import { isLive } from "../deciders/runState.ts";
import { thread, type ThreadState } from "../deciders/thread.ts";
import type { Send } from "../send.ts";
import { startNextRun } from "./continueRun.ts";
import { cancelNewestRun, readRunStates } from "./newestRun.ts";
import { readRunAnswer, readRunEnd, type RunAnswerDeps } from "./runAnswer.ts";
import { readState } from "../states.ts";
import { readTurnBounds } from "../turns/turnEvents.ts";
import { isTurnStart } from "./host/turnStart.ts";
import { openValues, RunGone } from "./values.ts";

/** After this time, a start that was in progress when its run ended is in the log or never will be: its command has a deadline of 10 s. */
const START_GRACE_MS = 60_000;

export interface SettleDeps extends RunAnswerDeps {
  log: RunAnswerDeps["log"] & Pick<EventLog, "heads" | "read">;
  send: Send;
  /** The clock for comparing and recording times of the log. */
  now?(): number;
  /** Asks a turn to stop; it does so soon. */
  stopTurn(organization: string, turn: AwaitedTurn): Promise<void>;
}

async function cancelChildren(deps: SettleDeps, head: StreamHead, children: string[]): Promise<void> {
  const by = { type: "run" as const, id: parseStreamName(head.stream).id };
  for (const run_id of children)
    await cancelNewestRun(deps, run_id, { by, reason: "The run that started it has ended." });
}

/**
 * The watchers that wait for the end of this run. A watcher whose wait is not recorded yet will look at this run later, and find
 * its end in the log.
 */
async function findWaiting({ log }: SettleDeps, own_id: string, watchers: Watcher[]): Promise<Watcher[]> {
  const states = await readRunStates(
    log,
    watchers.map(({ run_id }) => run_id),
  );
  return watchers.filter(({ run_id, awaited_run_id }) => {
    const state = states.get(run_id);
    const awaited = awaited_run_id ?? own_id;
    return state && isLive(state) && Object.values(state.waits).some((one) => one.awaited_run_id === awaited);
  });
}

/** Answers the waits of other runs for the end of this one. */
async function notifyWatchers(deps: SettleDeps, head: StreamHead, watchers: Watcher[]): Promise<void> {
  const own_id = parseStreamName(head.stream).id;
  const waiting = await findWaiting(deps, own_id, watchers);
  if (waiting.length === 0) return;
  const json = await readRunAnswer(deps, head);
  for (const { run_id, awaited_run_id } of waiting) {
    const target = { ...head, stream: streamName("run", run_id) };
    try {
      const answer = await openValues(deps, target).store(json);
      await deps.send(target, AnswerRunWaits.type, { run_id, awaited_run_id: awaited_run_id ?? own_id, answer });
    } catch (error) {
      // The watcher was destroyed.
      if (!(error instanceof RunGone)) throw error;
    }
  }
}

/** Asks running turns to stop. False if one is still running or may still start. */
async function stopTurns(deps: SettleDeps, head: StreamHead, turns: AwaitedTurn[]): Promise<boolean> {
  const { log, stopTurn } = deps;
  const heads = await log.heads(turns.map(({ thread_id }) => streamName("thread", thread_id)));
  let haveEnded = true;
  for (const turn of turns) {
    const found = heads.get(streamName("thread", turn.thread_id));
    const state: ThreadState = found ? (await readState(log, found, thread)).state : thread.initial;
    const isRunning = state.status === "open" && state.turn?.id === turn.turn_id;
    if (isRunning) await stopTurn(head.organization_id, turn);
    const events = found ? await readTurnBounds(log, found.stream, turn.turn_id) : [];
    const isKnown = events.some((event) => isTurnStart(event, turn.turn_id));
    if (isRunning || !(isKnown || (await isOver(deps, head)))) haveEnded = false;
  }
  return haveEnded;
}

/** Whether everything in progress when the run ended is in the log, or never will be. */
async function isOver(deps: SettleDeps, head: StreamHead): Promise<boolean> {
  const { recorded_at } = await readRunEnd(deps, head);
  return (deps.now ?? currentTime)() - recorded_at.getTime() >= START_GRACE_MS;
}

/** Whether a child run that was being started when the run ended may still appear. */
async function mayStillStart(deps: SettleDeps, head: StreamHead, unstarted: string[]): Promise<boolean> {
  const streams = unstarted.map((run_id) => streamName("run", run_id));
  const heads = await deps.log.heads(streams);
  if (streams.every((stream) => heads.has(stream))) return false;
  return !(await isOver(deps, head));
}

/** Settles an ended run. Idempotent, and safe in two processes at once. */
export async function settleRun(deps: SettleDeps, head: StreamHead, settling: Settlement): Promise<void> {
  // Checked first, so that a child run that appears later is not mistaken for a cancelled one.
  const awaitsStarts = settling.unstarted.length > 0 && (await mayStillStart(deps, head, settling.unstarted));
  await cancelChildren(deps, head, settling.cancel);
  if (settling.next) await startNextRun(deps, head, settling.next);
  if (settling.notify.length > 0) await notifyWatchers(deps, head, settling.notify);
  // The sweep repeats it.
  if (settling.stop && !(await stopTurns(deps, head, settling.stop))) return;
  if (awaitsStarts) return;
  await deps.send(head, SettleRun.type, { run_id: parseStreamName(head.stream).id });
}
