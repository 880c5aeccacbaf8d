import { runOfScope } from "#events/scope.ts";
import type { EventLog, FramePayload } from "#events/ports.ts";
import { RefuseTurn } from "#events/thread.ts";
import type { Vault } from "#events/vault.ts";
import type { Handle } from "../handle.ts";
import { AnswerInterrupted } from "./askModel.ts";
import type { Estimate } from "./askTargets.ts";
import { openConversation } from "./conversation.ts";
import { converse } from "./converse.ts";
import { endCompleted, endInterrupted, type AbortReason, type TurnEnding } from "./ending.ts";
import { replayFrames } from "./frames.ts";
import { readHistory, readPrompt, readTurnBlob, sizeToReserve, sizeOfMessages, type HistoryLimits } from "./history.ts";
import { ModelError, type ModelRequest } from "./model.ts";
import { buildModelRequest, measureFiles, useRequest } from "./modelRequest.ts";
import { parkTurn, type ToolApprovalOptions } from "./park.ts";
import { readRounds, sizeOfRounds, type Round } from "./round.ts";
import { createStepRecorder, StepNotRecorded, TurnLost } from "./steps.ts";
import { readFailures, readReplacedAnswers, type ReplacedAnswer } from "./targetFailures.ts";
import { toolContext } from "./toolContext.ts";
import type { Tools } from "./tools/index.ts";
import { askWithinBudget, type TurnBudgets } from "./turnBudgets.ts";
import type { TurnMemory, TurnMemoryShare } from "./turnMemory.ts";
import { openTurnModel, type AskedTargets, type TurnModelOptions } from "./turnModel.ts";
import type { TurnToRun } from "./turnToRun.ts";

export interface AnswerOptions extends TurnModelOptions, HistoryLimits {
  vault: Pick<Vault, "findKey" | "get" | "put">;
  log: EventLog;
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

/** Where a turn's frames go. */
export interface FrameSink {
  emit(frame: FramePayload): void;
  /** All frames so far. */
  emitted(): FramePayload[];
  /** Call it once the output of earlier attempts has been repeated. */
  endReplay(): void;
}

/** What is known of a turn when it ends, even if it ends with an error. */
interface Progress {
  rounds: Round[];
  share: TurnMemoryShare;
  estimate?: Estimate;
  /** Set if the turn's model is an alias. */
  routed?: AskedTargets | undefined;
  replaced: ReplacedAnswer[];
}

/**
 * Continues a turn from its recorded rounds until its model has answered. Returns how the turn ends: an error ends it as stopped,
 * failed or refused. Throws TurnLost and StepNotRecorded: another attempt will end it.
 */
export async function answerTurn(
  options: AnswerOptions,
  turn: TurnToRun,
  signal: AbortSignal,
  sink: FrameSink,
): Promise<TurnEnding> {
  const share = options.memory.open(turn.organization_id);
  const failures = readFailures(turn.steps, turn.turn_id);
  const progress: Progress = { rounds: [], share, replaced: readReplacedAnswers(failures, turn.route !== undefined) };
  try {
    await resumeRounds(options, turn, sink, progress);
    return withFailures(await askWithTools(options, turn, signal, sink, progress), progress);
  } catch (error) {
    if (error instanceof TurnLost || error instanceof StepNotRecorded) throw error;
    const cause = error instanceof AnswerInterrupted ? error.cause : error;
    if (cause instanceof ModelError && cause.details !== undefined) options.onCredentialRefused(cause.details, turn);
    const reason = signal.reason as AbortReason | undefined;
    if (reason === "lost") throw new TurnLost("another worker takes it over", { cause: error });
    const of_agent = turn.agent !== undefined;
    const ending = withFailures(await endInterrupted(error, { ...progress, of_agent, reason }), progress);
    // A refusal leaves no trace of the turn, and neither does the deletion of its thread.
    if (ending.command === RefuseTurn && reason === "deleted")
      throw new TurnLost("its thread is deleted", { cause: error });
    return ending;
  } finally {
    share.close();
  }
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
  options: AnswerOptions,
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

/** Asks the model until it answers. Keeps `progress` up to date, in case it throws. */
async function askWithTools(
  options: AnswerOptions,
  turn: TurnToRun,
  signal: AbortSignal,
  { emit: onFrame, emitted }: FrameSink,
  progress: Progress,
): Promise<TurnEnding> {
  const { organization_id, turn_id } = turn;
  const recorder = createStepRecorder(options, turn);
  const { rounds, share } = progress;
  const size = sizeToReserve(options, turn);
  if (!share.hasRoom(size)) await share.reserve(size, signal);
  const [{ ask: askNext, estimate, routed, replaced, findWindow }, prompt, history] = await Promise.all([
    openTurnModel(options, turn, recorder.recordFailure),
    readPrompt(options, turn_id, turn.input),
    turn.version > 1 ? readHistory(options, turn, share, signal) : [],
    turn.wasParked ? options.budgets.noteResume(turn) : undefined,
  ]);
  if (!prompt) throw new ModelError("refused", "The turn's input is gone.");
  Object.assign(progress, { estimate, routed, replaced });
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
  return endCompleted(last, progress);
}
