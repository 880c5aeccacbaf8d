import { currentTime } from "#events/clock.ts";
import { parseStreamName } from "#events/ids.ts";
import type { EventLog, FramePayload, Frames } from "#events/ports.ts";
import { runOfScope } from "#events/scope.ts";
import type { Vault } from "#events/vault.ts";
import { inSpan, type Attributes } from "#events/spans.ts";
import { RefuseTurn } from "#events/thread.ts";
import type { Handle } from "../handle.ts";
import { AnswerInterrupted } from "./askModel.ts";
import type { Estimate } from "./askTargets.ts";
import { openConversation } from "./conversation.ts";
import { converse } from "./converse.ts";
import { endCompleted, endInterrupted, type AbortReason, type TurnEnding } from "./ending.ts";
import { askWithinBudget, type TurnBudgets } from "./turnBudgets.ts";
import { replayFrames } from "./frames.ts";
import { mergeTextFrames } from "./mergeTextFrames.ts";
import { readHistory, readPrompt, readTurnBlob, sizeToReserve, sizeOfMessages, type HistoryLimits } from "./history.ts";
import { buildModelRequest, measureFiles, useRequest } from "./modelRequest.ts";
import { ModelError, type ModelRequest } from "./model.ts";
import { openTurnModel, type TurnModelOptions, type AskedTargets } from "./turnModel.ts";
import { openPublisher } from "./publisher.ts";
import { parkTurn, type ToolApprovalOptions } from "./park.ts";
import { readRounds, sizeOfRounds, type Round } from "./round.ts";
import { createStepRecorder, StepNotRecorded, turnCommand, TurnLost } from "./steps.ts";
import type { Tools } from "./tools/index.ts";
import { readFailures, readReplacedAnswers, type ReplacedAnswer } from "./targetFailures.ts";
import { toolContext } from "./toolContext.ts";
import type { TurnMemory, TurnMemoryShare } from "./turnMemory.ts";
import type { TurnToRun } from "./turnToRun.ts";

export interface TurnRunnerOptions extends TurnModelOptions, HistoryLimits {
  vault: Pick<Vault, "findKey" | "get" | "put">;
  log: EventLog;
  /** The clock for the end of a turn. */
  now?(): number;
  frames: Frames;
  tools: Tools;
  handle: Handle;
  /** Runs work when this process has room for the attachments' bytes, and holds that room meanwhile. */
  holdFiles<T>(organization: string, bytes: number, work: () => Promise<T>, signal: AbortSignal): Promise<T>;
  memory: TurnMemory;
  budgets: TurnBudgets;
  toolApprovals: ToolApprovalOptions;
  /** Called when a tool fails in a way that other arguments would not mend. */
  onToolError(error: unknown, turn: TurnToRun, tool: string): void;
}

const describeTurn = ({ organization_id, thread, turn_id, attempt, model, streamed }: TurnToRun): Attributes => ({
  "svc.organization_id": organization_id,
  "svc.thread_id": parseStreamName(thread).id,
  "svc.turn_id": turn_id,
  "svc.attempt": attempt,
  "svc.streamed": streamed,
  "svc.model": model,
});

/**
 * Runs a turn to its end event, or until `stopping` aborts; then another worker takes it over. A failing provider ends the turn.
 * Throws only if the log cannot be written.
 */
export const runTurn = (options: TurnRunnerOptions, turn: TurnToRun, stopping: AbortSignal): Promise<void> =>
  inSpan("turn", { attributes: describeTurn(turn) }, (note) => run(options, turn, stopping, note));

/** Aborts with an AbortReason when the process stops, the turn's time is up, or its client asks. */
function openAborter({ frames, now = currentTime }: TurnRunnerOptions, turn: TurnToRun, stopping: AbortSignal) {
  const aborter = new AbortController();
  const abort = (why: AbortReason): void => aborter.abort(why);
  const leave = (): void => abort("lost");
  stopping.addEventListener("abort", leave, { once: true });
  const timer = setTimeout(() => abort("late"), Math.max(1, Date.parse(turn.ends_by) - now()));
  const unsubscribe = frames.onStop(turn.organization_id, turn.turn_id, abort);
  return {
    signal: aborter.signal,
    abort,
    close(): void {
      clearTimeout(timer);
      stopping.removeEventListener("abort", leave);
      unsubscribe();
    },
  };
}

async function run(
  options: TurnRunnerOptions,
  turn: TurnToRun,
  stopping: AbortSignal,
  note: (attributes: Attributes) => void,
): Promise<void> {
  const aborter = openAborter(options, turn, stopping);
  const { publish, endReplay } = openPublisher(options.frames, turn);
  const emittedFrames: FramePayload[] = [];
  const words = mergeTextFrames((frame) => {
    if (turn.agent) emittedFrames.push(frame);
    if (turn.streamed) publish(frame);
  }, options.memory.countTurns);
  const emitted = () => {
    words.flush();
    return emittedFrames;
  };
  const sink: FrameSink = {
    emit: words.emit,
    emitted,
    endReplay() {
      words.flush();
      endReplay();
    },
  };
  try {
    const ending = await answer(options, turn, aborter.signal, sink).finally(words.flush);
    // A response's stream can be read again after the bus has dropped its frames, so its frames are stored.
    const stored = turn.agent && { frames: await createStepRecorder(options, turn).storeFrames(emittedFrames) };
    note({ "svc.status": ending.end.status });
    const { position } = await options.handle(turnCommand(turn, ending.command, { ...ending.data, ...stored }));
    // after a deletion a buffered client only learns that its thread is gone
    const mustReport = turn.streamed || aborter.signal.reason !== "deleted";
    // Position 0: the turn was taken over or deleted meanwhile. Its new worker reports the end.
    if (position > 0 && mustReport) publish({ type: "end", position, end: ending.end });
  } catch (error) {
    aborter.abort("lost");
    if (!(error instanceof TurnLost)) throw error;
  } finally {
    aborter.close();
  }
}

/** Where a turn's frames go. */
interface FrameSink {
  emit(frame: FramePayload): void;
  /** All frames so far. */
  emitted(): FramePayload[];
  /** Call it once the output of earlier attempts has been repeated. */
  endReplay(): void;
}

async function answer(
  options: TurnRunnerOptions,
  turn: TurnToRun,
  signal: AbortSignal,
  sink: FrameSink,
): Promise<TurnEnding> {
  const share = options.memory.open(turn.organization_id);
  const failures = readFailures(turn.steps, turn.turn_id);
  const answered: Progress = { rounds: [], share, replaced: readReplacedAnswers(failures, turn.route !== undefined) };
  try {
    await resumeRounds(options, turn, sink, answered);
    return withFailures(await askWithTools(options, turn, signal, sink, answered), answered);
  } catch (error) {
    if (error instanceof TurnLost || error instanceof StepNotRecorded) throw error;
    const cause = error instanceof AnswerInterrupted ? error.cause : error;
    if (cause instanceof ModelError && cause.details !== undefined) options.onCredentialRefused(cause.details, turn);
    const reason = signal.reason as AbortReason | undefined;
    if (reason === "lost") throw new TurnLost("another worker takes it over", { cause: error });
    const of_agent = turn.agent !== undefined;
    const ending = withFailures(await endInterrupted(error, { ...answered, of_agent, reason }), answered);
    // A refusal leaves no trace of the turn, and neither does the deletion of its thread.
    if (ending.command === RefuseTurn && reason === "deleted")
      throw new TurnLost("its thread is deleted", { cause: error });
    return ending;
  } finally {
    share.close();
  }
}

/** A turn's progress: its rounds, and the targets it has asked. */
interface Progress {
  rounds: Round[];
  share: TurnMemoryShare;
  estimate?: Estimate;
  routed?: AskedTargets | undefined;
  replaced: ReplacedAnswer[];
}

/** Adds the reasons why targets failed, if any. */
function withFailures(ending: TurnEnding, { routed }: Progress): TurnEnding {
  const failed_targets = routed?.failures.map(({ reason }) => reason) ?? [];
  return failed_targets.length === 0 ? ending : { ...ending, end: { ...ending.end, failed_targets } };
}

/**
 * Reads the rounds of earlier attempts, and repeats them to readers. Nothing that may fail comes before this, because any end of the
 * turn contains these rounds and their usage.
 */
async function resumeRounds(
  options: TurnRunnerOptions,
  { steps, turn_id, receivedFrames }: TurnToRun,
  { emit, endReplay }: FrameSink,
  { rounds, share }: Progress,
): Promise<void> {
  if (steps.length > 0) {
    rounds.push(...(await readRounds(steps, turn_id, async () => undefined)));
    replayFrames(rounds, receivedFrames, emit);
  }
  endReplay();
  if (rounds.length === 0) return;
  // with the long results, which only the model reads
  const whole = await readRounds(steps, turn_id, (blob) => readTurnBlob(options, turn_id, blob));
  rounds.splice(0, rounds.length, ...whole);
  share.add(sizeOfRounds(rounds));
}

/** Asks the model until it answers. `answered` holds the progress in case it throws. */
async function askWithTools(
  options: TurnRunnerOptions,
  turn: TurnToRun,
  signal: AbortSignal,
  { emit: onFrame, emitted }: FrameSink,
  answered: Progress,
): Promise<TurnEnding> {
  const { organization_id, turn_id } = turn;
  const recorder = createStepRecorder(options, turn);
  const { rounds, share } = answered;
  const size = sizeToReserve(options, turn);
  if (!share.hasRoom(size)) await share.reserve(size, signal);
  const [{ ask: askNext, estimate, routed, replaced, findWindow }, prompt, history] = await Promise.all([
    openTurnModel(options, turn, recorder.recordFailure),
    readPrompt(options, turn_id, turn.input),
    turn.version > 1 ? readHistory(options, turn, share, signal) : [],
    turn.wasParked ? options.budgets.noteResume(turn) : undefined,
  ]);
  if (!prompt) throw new ModelError("refused", "The turn's input is gone.");
  Object.assign(answered, { estimate, routed, replaced });
  const { tools, offers, clientTools, messages } = await openConversation(options, turn, prompt, {
    history,
    findWindow,
  });
  const held = sizeOfMessages(messages);
  if (share.hasRoom(held)) share.keep(held);
  else await share.reserve(held, signal);
  const ask = (request: ModelRequest) =>
    converse({
      ask: askWithinBudget(options.budgets.reserveMoney, turn, { ask: askNext, replaced }),
      request,
      share,
      rounds,
      tools,
      clientTools: new Set(clientTools.map(({ name }) => name)),
      context: toolContext(turn, prompt, signal),
      onFrame,
      ...recorder,
      approvals: prompt.agent?.tool_approvals ?? {},
      mayWait: turn.awaited_by !== null || runOfScope(turn.scope) === null,
      park: (round, calls) => parkTurn(options, turn, recorder, { round, calls, rounds, replaced, frames: emitted() }),
      onToolError: (error, tool) => options.onToolError(error, turn, tool),
    });
  const build = () => buildModelRequest(options, turn, prompt, offers, messages, share);
  const askWithFiles = () => useRequest(build, ask);
  const bytes = measureFiles(turn, messages);
  const last = await (bytes === 0 ? askWithFiles() : options.holdFiles(organization_id, bytes, askWithFiles, signal));
  return endCompleted(last, answered);
}
