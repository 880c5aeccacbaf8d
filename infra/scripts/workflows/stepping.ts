import { StepFailure, type StepCall, type StepResult } from "#services/workflows/tick.ts";
import { createPlaces } from "../places.ts";
import { stepOrder, type Loss, type StepOutcome } from "./messages.ts";
import { startRunner, type Place, type Runner } from "./runnerProcess.ts";
import { createHost } from "./stepHost.ts";
import { createThreads } from "./stepThreads.ts";

/** Attempts that one process runs at once; most of them wait for an answer. */
const AT_ONCE = 64;
/** A process that runs so many is joined by another, which takes longer to start than a small step. */
const BUSY = 8;
const IDLE_MS = 60_000;

interface Steps {
  runner: Runner;
  threads: ReturnType<typeof createThreads>;
}

const ENDED: Record<"computing" | "memory", string> = {
  computing: "The script was ended in an operation that took too long.",
  memory: "Steps of the organization held too much memory at once.",
};
/** What an attempt has come to whose thread is gone: its own fault, or nobody's. */
function lossOf(loss: Loss, culprit: boolean): StepFailure {
  if (loss === "computing" && culprit) return new StepFailure("step_limit", ENDED.computing, { final: true });
  if (loss === "memory") return new StepFailure("step_limit", ENDED.memory);
  return new StepFailure("runner_lost", "The process that ran the step was lost: it may have done something.");
}

function resultOf(text: string): StepResult {
  const outcome = JSON.parse(text) as StepOutcome;
  if ("json" in outcome) return outcome;
  const { code, message, ...failed } = outcome.failed;
  throw new StepFailure(code, message, { ...failed, logs: outcome.logs });
}

/** Runs attempts at steps in processes of their own, each in a VM of its own. A small one takes 0.2 ms from here and back (two cores). */
export function openStepping({ processes, cpu_ms }: { processes: number; cpu_ms: number }) {
  const places = createPlaces({ places: processes * AT_ONCE, each: Math.ceil((processes * AT_ONCE) / 2) });
  const closing = new AbortController();
  const open = new Set<Steps>();
  let ids = 0;
  let running = 0;
  let idle: NodeJS.Timeout | undefined;

  function start(): Steps {
    const threads = createThreads();
    const started = { runner: startRunner("steps", cpu_ms, threads.lost), threads };
    open.add(started);
    void started.runner.gone.then(() => open.delete(started));
    return started;
  }
  /** The one with the least to do. */
  function take(): Steps {
    const alive = [...open].filter(({ runner }) => runner.isAlive());
    const [least] = alive.toSorted((a, b) => a.runner.running() - b.runner.running());
    if (!least) return start();
    if (alive.length < processes && least.runner.running() >= BUSY) start();
    return least;
  }

  /** `over` is called when the thread has nothing more to do with it, which may be after it was given up. */
  function stepOn(runner: Runner, place: Place, call: StepCall, stopped: AbortSignal, over: () => void) {
    const id = ids++;
    const { sha256, step, args, context, max_result_bytes } = call;
    const ended = new AbortController();
    const host = createHost(call, AbortSignal.any([stopped, ended.signal]));
    const answer = async (ask: number, what: string, text: string): Promise<void> => {
      runner.tell(place, { kind: "answer", id, ask, text: await host.answer(what, text) });
    };
    return new Promise<StepResult>((resolve, reject) => {
      const stop = (): void => {
        ended.abort();
        runner.tell(place, { kind: "cancel", id });
        reject(stopped.reason);
      };
      stopped.addEventListener("abort", stop, { once: true });
      const close = (settle: () => void): void => {
        stopped.removeEventListener("abort", stop);
        ended.abort();
        over();
        settle();
      };
      const text = JSON.stringify(stepOrder(context, { sha256, step, args, max_result_bytes }));
      runner.begin(
        place,
        { kind: "step", id, text },
        {
          lost: (loss, culprit) => close(() => reject(lossOf(loss, culprit))),
          heard(report) {
            if (report.kind === "done") close(() => void Promise.try(resultOf, report.text).then(resolve, reject));
            else if (report.kind === "need") runner.tell(place, { kind: "give", id, text: call.js });
            // one that waits for its turn when the attempt has ended is not answered
            else if (report.kind === "ask") answer(report.ask, report.what, report.text).catch(() => {});
            else {
              close(() => reject(new StepFailure("runner_lost", report.message)));
              runner.endThread(place.thread);
            }
          },
        },
      );
    });
  }

  function rest(): void {
    if (running > 0 || closing.signal.aborted) return;
    idle = setTimeout(() => {
      for (const { runner } of open) runner.end();
    }, IDLE_MS).unref();
  }

  return {
    async step(call: StepCall): Promise<StepResult> {
      const { organization_id: tenant, signal, timeout_ms } = call;
      const stopped = AbortSignal.any([signal, closing.signal]);
      await places.enter(tenant, stopped);
      if (stopped.aborted) places.leave(tenant);
      stopped.throwIfAborted();
      running += 1;
      clearTimeout(idle);
      const late = AbortSignal.timeout(timeout_ms);
      const { runner, threads } = take();
      const place = { thread: threads.take(tenant), tenant };
      const over = (): void => {
        if (threads.leave(place.thread)) runner.endThread(place.thread);
        places.leave(tenant);
        running -= 1;
        rest();
      };
      try {
        return await stepOn(runner, place, call, AbortSignal.any([stopped, late]), over);
      } catch (error) {
        if (error !== late.reason) throw error;
        throw new StepFailure("step_timeout", `The step took longer than ${timeout_ms / 1_000} seconds.`);
      }
    },
    async close(): Promise<void> {
      closing.abort(new Error("The workflow runner was closed"));
      clearTimeout(idle);
      for (const { runner } of open) runner.end();
      await Promise.all([...open].map(({ runner }) => runner.gone));
    },
  };
}
