import { z } from "zod";
import { StepFailure, type StepCall, type StepResult } from "#services/workflows/tick.ts";
import { createPlaces } from "../places.ts";
import type { StepOrder, StepOutcome } from "./messages.ts";
import { startRunner, type Runner } from "./runnerProcess.ts";

/** Attempts that one process runs at once; most of them wait for an answer. */
const AT_ONCE = 64;
const RESIDENT = 2_000_000_000;
/** Asks of one attempt that are being answered at once; more wait, so that no script fills this process with answers. */
const ANSWERS_AT_ONCE = 8;
const CHANGES = new Set(["POST", "PUT", "PATCH", "DELETE"]);
const CALLS = ["chat", "agent", "search", "read", "tool"] as const;

const Fetched = z.object({
  url: z.string().max(8_000),
  method: z.string().max(20),
  headers: z.array(z.tuple([z.string().max(200), z.string().max(8_192)])).max(100),
  body: z.string().nullable(),
});

/** Answers what an attempt asks, some at a time. */
function createHost({ host, context }: Pick<StepCall, "host" | "context">, ended: AbortSignal) {
  const answers = createPlaces({ places: ANSWERS_AT_ONCE, each: ANSWERS_AT_ONCE });
  let calls = 0;

  function fetched(text: string): Promise<unknown> {
    const { data } = Fetched.safeParse(JSON.parse(text));
    if (!data) throw new Error("fetch: the address, the method or the headers are too long.");
    const isKeyed = data.headers.some(([name]) => name.toLowerCase() === "idempotency-key");
    if (!isKeyed && CHANGES.has(data.method.toUpperCase()))
      data.headers.push(["idempotency-key", context.idempotency_key]);
    return host.fetch(data, ended);
  }
  async function answerTo(what: string, text: string, nth: number): Promise<unknown> {
    if (what === "fetch") return fetched(text);
    if (what === "secret") return host.secret(text);
    const called = CALLS.find((each) => each === what);
    if (!called) throw new Error(`There is no ${what}.`);
    return host.call(called, JSON.parse(text), nth, ended);
  }

  return {
    async answer(what: string, text: string): Promise<string> {
      const nth = what === "fetch" || what === "secret" ? 0 : calls++;
      await answers.enter("", ended);
      try {
        return JSON.stringify({ ok: true, value: (await answerTo(what, text, nth)) ?? null });
      } catch (error) {
        const { message } = error as Error;
        const { code, final } = error instanceof StepFailure ? error : { code: undefined, final: undefined };
        return JSON.stringify({ ok: false, error: { message, code, final } });
      } finally {
        answers.leave("");
      }
    },
  };
}

/** Runs attempts at steps in processes, each in a VM of its own. */
export function openStepping({ processes, cpu_ms }: { processes: number; cpu_ms: number }) {
  const places = createPlaces({ places: processes * AT_ONCE, each: Math.ceil((processes * AT_ONCE) / 2) });
  const closing = new AbortController();
  const runners = new Set<Runner>();
  let ids = 0;

  function take(): Runner {
    const [least] = [...runners].toSorted((a, b) => a.running() - b.running());
    if (least && (least.running() === 0 || runners.size >= processes)) return least;
    const started = startRunner("steps", cpu_ms, RESIDENT);
    runners.add(started);
    void started.gone.then(() => runners.delete(started));
    return started;
  }

  function stepOn(runner: Runner, thread: number, call: StepCall, stopped: AbortSignal): Promise<StepResult> {
    const id = ids++;
    const { step, sha256, args, context, max_result_bytes } = call;
    const { run_id, step_id, attempt, idempotency_key, run_as } = context;
    const told = { attempt, idempotencyKey: idempotency_key, runId: run_id, stepId: step_id, runAs: run_as };
    const input = `{"args":${args},"context":${JSON.stringify(told)}}`;
    const order: StepOrder = { sha256, step, input, max_result_bytes };
    const ended = new AbortController();
    const host = createHost(call, AbortSignal.any([stopped, ended.signal]));
    return new Promise<StepResult>((resolve, reject) => {
      const stop = (): void => {
        runner.leave(id);
        runner.tell(thread, { kind: "cancel", id });
        reject(stopped.reason);
      };
      stopped.addEventListener("abort", stop, { once: true });
      runner.begin(
        thread,
        { kind: "step", id, text: JSON.stringify(order) },
        {
          lost: (message) => reject(new StepFailure("runner_lost", message)),
          heard(report) {
            if (report.kind === "done") {
              const outcome = JSON.parse(report.text) as StepOutcome;
              if ("json" in outcome) return resolve(outcome);
              const { code, message, ...failed } = outcome.failed;
              reject(new StepFailure(code, message, { ...failed, logs: outcome.logs }));
            } else if (report.kind === "need") runner.tell(thread, { kind: "give", id, text: call.js });
            else if (report.kind === "ask")
              host.answer(report.what, report.text).then(
                (text) => runner.tell(thread, { kind: "answer", id, ask: report.ask, text }),
                () => {},
              );
            else reject(new StepFailure("runner_lost", report.message));
          },
        },
      );
    }).finally(() => ended.abort());
  }

  return {
    async step(call: StepCall): Promise<StepResult> {
      await places.enter(call.organization_id, AbortSignal.any([call.signal, closing.signal]));
      const late = AbortSignal.timeout(call.timeout_ms);
      try {
        return await stepOn(take(), 0, call, AbortSignal.any([call.signal, closing.signal, late]));
      } catch (error) {
        if (late.aborted && !call.signal.aborted && !(error instanceof StepFailure))
          throw new StepFailure("step_timeout", `The step took longer than ${call.timeout_ms / 1_000} seconds.`);
        throw error;
      } finally {
        places.leave(call.organization_id);
      }
    },
    async close(): Promise<void> {
      closing.abort(new Error("The workflow runner was closed"));
      for (const runner of runners) runner.end();
      await Promise.all([...runners].map((runner) => runner.gone));
    },
  };
}
