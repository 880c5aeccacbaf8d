import { currentTime } from "#events/clock.ts";
import { parseStreamName } from "#events/ids.ts";
import { onSharedAbort } from "#events/onSharedAbort.ts";
import type { FramePayload, Frames } from "#events/ports.ts";
import { inSpan, type Attributes } from "#events/spans.ts";
import { answerTurn, type AnswerOptions, type FrameSink } from "./answerTurn.ts";
import type { AbortReason } from "./ending.ts";
import { mergeTextFrames } from "./mergeTextFrames.ts";
import { openPublisher } from "./publisher.ts";
import { createStepRecorder, turnCommand, TurnLost } from "./steps.ts";
import type { TurnToRun } from "./turnToRun.ts";

export interface TurnRunnerOptions extends AnswerOptions {
  frames: Frames;
  /** The clock for the end of a turn. */
  now?(): number;
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
  const forgetStop = onSharedAbort(stopping, () => abort("lost"));
  const timer = setTimeout(() => abort("late"), Math.max(1, Date.parse(turn.ends_by) - now()));
  const unsubscribe = frames.onStop(turn.organization_id, turn.turn_id, abort);
  return {
    signal: aborter.signal,
    abort,
    close(): void {
      clearTimeout(timer);
      forgetStop();
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
  const publisher = openPublisher(options.frames, turn);
  const sink = openSink(options, turn, publisher);
  try {
    const ending = await answerTurn(options, turn, aborter.signal, sink).finally(sink.flush);
    // A response's stream can be read again after the bus has dropped its frames, so its frames are stored.
    const stored = turn.agent && { frames: await createStepRecorder(options, turn).storeFrames(sink.emitted()) };
    note({ "svc.status": ending.end.status });
    const { position } = await options.handle(turnCommand(turn, ending.command, { ...ending.data, ...stored }));
    // after a deletion a buffered client only learns that its thread is gone
    const mustReport = turn.streamed || aborter.signal.reason !== "deleted";
    // Position 0: the turn was taken over or deleted meanwhile. Its new worker reports the end.
    if (position > 0 && mustReport) publisher.publish({ type: "end", position, end: ending.end });
  } catch (error) {
    aborter.abort("lost");
    if (!(error instanceof TurnLost)) throw error;
  } finally {
    aborter.close();
  }
}

/** Publishes the frames of a streamed turn, and collects those of a response. */
function openSink(
  { memory }: TurnRunnerOptions,
  turn: TurnToRun,
  publisher: ReturnType<typeof openPublisher>,
): FrameSink & { flush(): void } {
  const emittedFrames: FramePayload[] = [];
  const { emit, flush } = mergeTextFrames((frame) => {
    if (turn.agent) emittedFrames.push(frame);
    if (turn.streamed) publisher.publish(frame);
  }, memory.countTurns);
  return {
    emit,
    flush,
    emitted() {
      flush();
      return emittedFrames;
    },
    endReplay() {
      flush();
      publisher.endReplay();
    },
  };
}
