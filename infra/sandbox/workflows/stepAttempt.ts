import { StepFailure, type StepCall, type StepResult } from "#services/workflows/tick.ts";
import { createHostResponder } from "./hostResponder.ts";
import { newStepOrder, type Report, type StepOutcome, type ThreadLoss } from "./messages.ts";
import type { RunnerProcess, ThreadAddress } from "./runnerProcess.ts";

/** The failure of an attempt whose thread has ended. `isCulprit`: it was computing this attempt at that time. */
function lossFailure(loss: ThreadLoss, isCulprit: boolean): StepFailure {
  if (loss === "computing" && isCulprit)
    return new StepFailure("step_limit", "The script was ended in an operation that took too long.", { final: true });
  if (loss === "memory")
    return new StepFailure("step_limit", "Steps of the organization held too much memory at once.");
  return new StepFailure("runner_lost", "The process that ran the step was lost: it may have done something.");
}

/** Parses the StepOutcome. Throws StepFailure. */
function readOutcome(json: string): StepResult {
  const outcome = JSON.parse(json) as StepOutcome;
  if ("json" in outcome) return outcome;
  const { code, message, ...details } = outcome.failed;
  throw new StepFailure(code, message, { ...details, logs: outcome.logs });
}

interface AttemptOptions {
  id: number;
  runner: RunnerProcess;
  address: ThreadAddress;
  call: StepCall;
  /** Aborts the attempt, which throws the signal's reason. */
  signal: AbortSignal;
  /** Called when the thread has finished with the attempt, possibly after an abort. */
  onFinished(): void;
}

/** Runs an attempt at a step in a thread. Throws StepFailure, or the signal's reason. */
export function runAttempt({ id, runner, address, call, signal, onFinished }: AttemptOptions): Promise<StepResult> {
  const { sha256, step, args, context, max_result_bytes } = call;
  const ended = new AbortController();
  const { promise, resolve, reject } = Promise.withResolvers<StepResult>();
  const host = createHostResponder(call, AbortSignal.any([signal, ended.signal]));

  async function respond({ request, what, text }: Extract<Report, { kind: "request" }>): Promise<void> {
    for await (const piece of host.respond(what, text)) {
      ended.signal.throwIfAborted();
      runner.send(address, { kind: "answerPiece", id, request, text: piece });
    }
    runner.send(address, { kind: "answered", id, request });
  }
  const cancel = (): void => {
    ended.abort();
    runner.send(address, { kind: "cancel", id });
    reject(signal.reason);
  };
  const finish = (settle: () => void): void => {
    signal.removeEventListener("abort", cancel);
    ended.abort();
    onFinished();
    settle();
  };
  function onReport(report: Report): void {
    if (report.kind === "done") finish(() => void Promise.try(readOutcome, report.text).then(resolve, reject));
    else if (report.kind === "need") runner.send(address, { kind: "provide", id, text: call.js });
    // a request that is still waiting when the attempt ends is not answered
    else if (report.kind === "request") respond(report).catch(() => {});
    else {
      finish(() => reject(new StepFailure("runner_lost", report.message)));
      runner.endThread(address.thread);
    }
  }

  signal.addEventListener("abort", cancel, { once: true });
  const text = JSON.stringify(newStepOrder(context, { sha256, step, args, max_result_bytes }));
  const onLost = (loss: ThreadLoss, isCulprit: boolean) => finish(() => reject(lossFailure(loss, isCulprit)));
  runner.start(address, { kind: "step", id, text }, { onReport, onLost });
  return promise;
}
