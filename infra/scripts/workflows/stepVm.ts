import { EvalFlags, QuickJS, type JSValueHandle } from "quickjs-wasi";
import { lineOf, wordsOf } from "./failure.ts";
import { compile, createCodeCache, FULFILLED, PENDING, setUp, vmOptions } from "./guestCode.ts";
import { createLogs, nestsTooDeep } from "./limits.ts";
import type { StepOutcome } from "./messages.ts";
import { baselineOf, clean, type Baseline } from "./realm.ts";
import { STEP_GUEST } from "./stepGuest.ts";

const MEMORY = 64 * 1024 * 1024;
const CODE_BYTES = 16 * 1024 * 1024;
/** Largest thing that is asked of the host, in UTF-16 units. */
const MOST = 1024 * 1024;
/** Asks of one attempt that may be under way at once, and that it may make in all. */
const ASKS_AT_ONCE = 20;
const ASKS = 1_000;
const WEEK_S = 7 * 24 * 60 * 60;
/** VMs that wait for their next script. */
const SPARE = 4;

type Failed = Extract<StepOutcome, { failed: unknown }>["failed"];
export class StepEnd extends Error {
  readonly failed: Failed;
  constructor(failed: Partial<Failed> & { message: string }) {
    super(failed.message);
    this.failed = { code: "step_error", final: false, retry_after_ms: null, line: null, ...failed };
  }
}

export interface Attempt {
  sha256: string;
  step: string;
  input: string;
  max_result_bytes: number;
  /** Not wanted any more. */
  signal: AbortSignal;
  /** Answers with JSON of `{ok, value}` or `{ok, error}`. */
  ask(what: string, text: string): Promise<string>;
}

const processorMs = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
};

/** One VM and the attempt that it runs. */
function createSeat(wasm: never, cpu_ms: number, entered: (inside: boolean) => void) {
  let used = 0;
  let since: number | undefined;
  let over = false;
  let ask: Attempt["ask"] = () => Promise.reject(new Error("Nothing is asked."));
  let asks = 0;
  let asking = 0;
  let logs = createLogs();
  let failure: Error | undefined;
  let retryAfter: number | null = null;
  let wake = () => {};
  let ended = false;
  let generation = 0;
  let vm: QuickJS;
  let baseline: Baseline | undefined;

  const computedTooLong = (): StepEnd =>
    new StepEnd({
      code: "step_limit",
      message: `The script computed for longer than ${cpu_ms / 1_000} seconds.`,
      final: true,
    });
  const options = vmOptions({
    wasm,
    memory: MEMORY,
    now: Date.now,
    interrupt: () => (over ||= used + (since === undefined ? 0 : processorMs() - since) > cpu_ms),
  });

  function inside<T>(work: () => T): T {
    since = processorMs();
    entered(true);
    try {
      return work();
    } catch (error) {
      if (over) throw computedTooLong();
      const { name, message, stack } = error as Error;
      throw new StepEnd({ message: wordsOf({ name, message }), line: lineOf(stack) });
    } finally {
      used += processorMs() - since;
      since = undefined;
      entered(false);
    }
  }
  function drain(): void {
    inside(() => {
      while (vm.executePendingJobs() > 0);
    });
    if (over) throw computedTooLong();
  }

  /** What the other side asks to be left alone for, by its last answer. */
  function heed(json: string): void {
    const { ok, value } = JSON.parse(json) as { ok: boolean; value?: { status: number; headers: [string, string][] } };
    if (!ok || !value) return;
    const header = value.headers.find(([name]) => name.toLowerCase() === "retry-after")?.[1];
    const limited = value.status === 429 || value.status === 503;
    const seconds = header === undefined || header.trim() === "" ? Number.NaN : Number(header);
    const until = Number.isNaN(seconds) ? (Date.parse(header ?? "") - Date.now()) / 1_000 : seconds;
    retryAfter = limited && Number.isFinite(until) ? until : null;
  }

  const asked = (what: JSValueHandle, text: JSValueHandle): JSValueHandle => {
    const kind = what.toString();
    const said = text.toString();
    const refusal =
      said.length > MOST
        ? "What is asked is too large."
        : asking >= ASKS_AT_ONCE
          ? "Too much is asked at once."
          : asks >= ASKS
            ? "Too much is asked."
            : undefined;
    if (refusal) return vm.newString(JSON.stringify({ ok: false, error: { message: refusal, code: "step_limit" } }));
    const deferred = vm.newPromise();
    asking += 1;
    asks += 1;
    const mine = generation;
    void ask(kind, said).then((json) => {
      if (mine !== generation || ended) return;
      asking -= 1;
      try {
        if (kind === "fetch") heed(json);
        inside(() => deferred.resolve(vm.newString(json)));
        drain();
      } catch (error) {
        failure ??= error as Error;
      }
      wake();
    });
    return deferred.handle;
  };
  const note = (line: JSValueHandle): JSValueHandle => {
    logs.add(line.toString());
    return vm.undefined;
  };

  async function fresh(): Promise<[JSValueHandle, JSValueHandle, JSValueHandle]> {
    if (!baseline) {
      const opened = await baselineOf(options, (first) => {
        vm = first;
        return setUp(first, STEP_GUEST, [first.newFunction("ask", asked), first.newFunction("note", note)]);
      });
      ({ vm, baseline } = opened);
    } else if (!clean(vm, baseline)) {
      vm = await QuickJS.restore(baseline.snapshot, options);
      vm.registerHostCallback("ask", asked);
      vm.registerHostCallback("note", note);
    }
    [used, since, over, asks, asking, failure, retryAfter, ended] = [0, undefined, false, 0, 0, undefined, null, false];
    generation += 1;
    logs = createLogs();
    const handles = baseline.tokens.map((token) => vm.importHandle(token));
    return handles as [JSValueHandle, JSValueHandle, JSValueHandle];
  }

  async function settled(promise: JSValueHandle, tell: JSValueHandle): Promise<JSValueHandle> {
    drain();
    while (promise.promiseState === PENDING) {
      if (asking === 0) throw new StepEnd({ message: "The script waits for something that never comes.", final: true });
      await new Promise<void>((resolve) => (wake = resolve));
      if (failure) throw failure;
    }
    const kept = promise.promiseState === FULFILLED;
    const outcome = await vm.resolvePromise(promise);
    if (kept && "value" in outcome) return outcome.value;
    const { error } = outcome as { error: JSValueHandle };
    const {
      name,
      message,
      stack,
      code,
      final,
      retryAfter: own,
    } = JSON.parse(inside(() => vm.callFunction(tell, vm.undefined, error).toString()));
    const seconds = own ?? retryAfter;
    throw new StepEnd({
      code: code ?? "step_error",
      message: wordsOf({ name, message }),
      line: lineOf(stack),
      final,
      retry_after_ms: seconds === null ? null : Math.round(1_000 * Math.min(Math.max(seconds, 0), WEEK_S)),
    });
  }

  const evaluate = (code: Uint8Array, tell: JSValueHandle): Promise<JSValueHandle> =>
    settled(
      inside(() => vm.evalBytecode(code)),
      tell,
    );

  return {
    async compile(js: string): Promise<Uint8Array> {
      await fresh();
      return compile(vm, js);
    },
    async run(code: Uint8Array, { step, input, max_result_bytes, ask: asker, signal }: Attempt): Promise<StepOutcome> {
      const cut = (): void => {
        failure ??= new StepEnd({ message: "The step is not wanted any more." });
        wake();
      };
      try {
        const [execute, tell] = await fresh();
        ask = asker;
        signal.addEventListener("abort", cut);
        const module = await evaluate(code, tell);
        const promise = inside(() =>
          vm.callFunction(execute, vm.undefined, module, vm.newString(step), vm.newString(input)),
        );
        const json = (await settled(promise, tell)).toString();
        if (Buffer.byteLength(json) > max_result_bytes)
          throw new StepEnd({
            code: "step_result_too_large",
            message: `The result is larger than ${max_result_bytes} bytes.`,
            final: true,
          });
        if (nestsTooDeep(json)) throw new StepEnd({ message: "The result nests too deep.", final: true });
        return { json, logs: logs.lines };
      } catch (error) {
        if (!(error instanceof StepEnd)) throw error;
        return { failed: error.failed, logs: logs.lines };
      } finally {
        ended = true;
        signal.removeEventListener("abort", cut);
      }
    },
    /** Evaluates a script as it is saved: JSON of what it says of itself. Throws StepEnd. */
    async inspect(js: string): Promise<string> {
      const [, tell, inspect] = await fresh();
      const module = await settled(
        inside(() => vm.evalCode(js, "script.js", EvalFlags.TYPE_MODULE)),
        tell,
      );
      return inside(() => vm.callFunction(inspect, vm.undefined, module).toString());
    },
  };
}

type Seat = ReturnType<typeof createSeat>;

/** Runs attempts at steps, each in a VM of its own while it lasts. */
export function openSteps(wasm: never, cpu_ms: number, entered: (inside: boolean) => void) {
  const code = createCodeCache(CODE_BYTES);
  const spare: Seat[] = [];
  async function seated<T>(work: (seat: Seat) => Promise<T>): Promise<T> {
    const seat = spare.pop() ?? createSeat(wasm, cpu_ms, entered);
    const result = await work(seat);
    if (spare.length < SPARE) spare.push(seat);
    return result;
  }
  return {
    has: code.has,
    keep: (sha256: string, js: string) => seated(async (seat) => code.set(sha256, await seat.compile(js))),
    run: (attempt: Attempt): Promise<StepOutcome> => seated((seat) => seat.run(code.get(attempt.sha256)!, attempt)),
    inspect: (js: string): Promise<string> => seated((seat) => seat.inspect(js)),
  };
}
