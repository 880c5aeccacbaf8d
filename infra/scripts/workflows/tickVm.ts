import { QuickJS, type JSValueHandle } from "quickjs-wasi";
import type { TickOutcome, TickWarning } from "#services/workflows/tick.ts";
import { createAsking, type Asking } from "./asking.ts";
import { lineOf, wordsOf, type Thrown } from "./failure.ts";
import { compile, createCodeCache, FULFILLED, PENDING, setUp, vmOptions } from "./guestCode.ts";
import type { History } from "./history.ts";
import { LONGEST_RESULT, nestsTooDeep } from "./limits.ts";
import { baselineOf, clean } from "./realm.ts";
import { TICK_GUEST } from "./tickGuest.ts";

const MEMORY = 32 * 1024 * 1024;
const CODE_BYTES = 32 * 1024 * 1024;
/**
 * Interrupts that run() may take on one tick; QuickJS makes one for 10,000 loops and calls. 1,000 of them are 0.3 s of ordinary
 * code here, and the same on a busy machine.
 */
const FUEL = 1_000;
/** What so many interrupts do may be much; then processor time ends the tick. In milliseconds. */
const BACKSTOP_MS = 5_000;
const MOST_WARNINGS = 10;

export interface Tick {
  run_id: string;
  sha256: string;
  /** JSON. */
  args: string;
  created_at: number;
  now: number;
  history: History;
}

/** The script is at fault: run() has failed. */
class RunFailure extends Error {
  readonly code: string;
  readonly line: number | null;
  constructor(code: string, message: string, line: number | null = null) {
    super(message);
    this.code = code;
    this.line = line;
  }
}

type Ended = TickOutcome["end"];
interface Told {
  signal: number | null;
  wraps: number | null;
  error: Thrown;
}
interface Raised {
  call: string;
  ends: boolean;
  stack: string | null;
}

const processorMs = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
};

function failureOf(thrown: Thrown | { name?: string; message: string; stack?: string | null }): RunFailure {
  const { name, message, stack } = thrown;
  const is = (words: string): boolean => message.includes(words);
  const code =
    name === "InternalError" && is("out of memory")
      ? "out_of_memory"
      : name === "TypeError" && is("not serialisable")
        ? "not_serialisable"
        : "run_error";
  return new RunFailure(code, wordsOf({ name, message }), lineOf(stack));
}

/** Re-executes `run()` of scripts, one after another; each in a realm of its own, whose memory is that of one that ran nothing. */
export async function openTicks(wasm: never) {
  let asking: Asking | undefined;
  let created_at = 0;
  let fuel = 0;
  let since = 0;
  let over = false;
  /** A fault of this program, not of the script. */
  let fault: Error | undefined;
  const unhandled = new Map<number, number>();

  const options = vmOptions({
    wasm,
    memory: MEMORY,
    now: () => created_at,
    interrupt: () => {
      fuel += 1;
      over ||= fuel > FUEL || processorMs() - since > BACKSTOP_MS;
      return over;
    },
  });
  const withRejections = {
    ...options,
    onUnhandledRejection: (_promise: JSValueHandle, reason: JSValueHandle, isHandled: boolean) => {
      const { identity } = reason;
      unhandled.set(identity, (unhandled.get(identity) ?? 0) + (isHandled ? -1 : 1));
    },
  };
  let vm: QuickJS;
  function answer(...args: JSValueHandle[]): JSValueHandle {
    try {
      const [what = "", name = "", json = "", key, ...more] = args.map((arg) =>
        arg.isUndefined ? undefined : arg.toString(),
      );
      const told = asking!.ask(what, name, json, key, more as string[]);
      return told === undefined ? vm.undefined : vm.newString(told);
    } catch (error) {
      fault ??= error as Error;
      throw Object.assign(new Error("The call could not be made."), { stack: "" });
    }
  }
  const opened = await baselineOf(withRejections, (first) => {
    vm = first;
    return setUp(first, TICK_GUEST, [first.newFunction("ask", answer)]);
  });
  vm = opened.vm;
  const { baseline } = opened;
  const code = createCodeCache(CODE_BYTES);

  async function fresh(): Promise<JSValueHandle[]> {
    if (!clean(vm, baseline)) {
      vm = await QuickJS.restore(baseline.snapshot, withRejections);
      vm.registerHostCallback("ask", answer);
    }
    [fuel, since, over, fault] = [0, processorMs(), false, undefined];
    unhandled.clear();
    return baseline.tokens.map((token) => vm.importHandle(token));
  }

  const tooLong = (): RunFailure => new RunFailure("run_timeout", "run() computed for longer than it may on one tick.");
  function inside<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      if (over) throw tooLong();
      throw failureOf(error as Error);
    }
  }
  function drain(): void {
    inside(() => {
      while (vm.executePendingJobs() > 0);
    });
    if (over) throw tooLong();
  }
  const call = (guest: JSValueHandle, ...args: JSValueHandle[]): JSValueHandle =>
    inside(() => vm.callFunction(guest, vm.undefined, ...args));

  async function resultOf(promise: JSValueHandle): Promise<JSValueHandle> {
    const outcome = await vm.resolvePromise(promise);
    return "value" in outcome ? outcome.value : outcome.error;
  }

  async function evaluate(sha256: string, tell: JSValueHandle): Promise<JSValueHandle> {
    const promise = inside(() => vm.evalBytecode(code.get(sha256)!));
    drain();
    if (promise.promiseState === PENDING)
      throw new RunFailure("run_stuck", "The script waits at its top level for something that never comes.");
    const result = await resultOf(promise);
    if (promise.promiseState === FULFILLED) return result;
    const { error } = JSON.parse(call(tell, result).toString()) as Told;
    throw failureOf(error ?? { message: "run() is not yet there to be suspended.", name: "Error" });
  }

  /** Signals that `run()` went on after, in so many words. `last`: the signal that run() ended with. */
  function swallowed(raised: Raised[], raisedAt: JSValueHandle, last: number | null): TickWarning[] {
    const end = raised.findIndex(({ ends }) => ends);
    const before = end === -1 || last === null ? raised : raised.slice(0, end);
    if (last !== null && last !== end) return [];
    const warnings = new Map<string, TickWarning>();
    before.forEach(({ call: said, stack }, n) => {
      const signal = call(raisedAt, vm.newNumber(n));
      // one that nobody waited for was not swallowed
      if (n === last || (unhandled.get(signal.identity) ?? 0) > 0) return;
      const line = lineOf(stack);
      const message = `The signal of ${said} was caught, so that run() went on without its result.`;
      warnings.set(`${said} ${line}`, { code: "signal_swallowed", message, call: said, line });
    });
    return [...warnings.values()].slice(0, MOST_WARNINGS);
  }

  async function outcome(tick: Tick, asks: Asking): Promise<{ end: Ended; warnings: TickWarning[] }> {
    const [prepare, begin, tell, said, raisedAll, raisedAt] = (await fresh()) as [
      JSValueHandle,
      JSValueHandle,
      JSValueHandle,
      JSValueHandle,
      JSValueHandle,
      JSValueHandle,
    ];
    const completion = (): Ended | undefined => {
      const json = asks.completed();
      return json === undefined ? undefined : { type: "completed", completion: "explicit", json };
    };
    const seed = tick.run_id
      .replaceAll("-", "")
      .match(/.{8}/g)
      ?.map((part) => Number.parseInt(part, 16) | 0);
    const given = `{"args":${tick.args},"runId":${JSON.stringify(tick.run_id)},"seed":${JSON.stringify(seed ?? [1, 2, 3])}}`;
    call(prepare, vm.newString(given));
    const module = await evaluate(tick.sha256, tell);
    const promise = call(begin, module);
    drain();
    const signals = (): Raised[] => JSON.parse(call(raisedAll).toString()) as Raised[];
    const state = promise.promiseState;
    if (state === PENDING) {
      const stuck = new RunFailure("run_stuck", "run() waits for something that never comes.");
      if (!asks.completed() && !asks.isWaiting()) throw stuck;
      return { end: completion() ?? { type: "suspended" }, warnings: [] };
    }
    const result = await resultOf(promise);
    if (state === FULFILLED) {
      const warnings = swallowed(signals(), raisedAt, null);
      if (completion()) return { end: completion()!, warnings };
      if (asks.isWaiting()) return { end: { type: "suspended" }, warnings };
      const json = call(said, result).toString();
      if (json.length > LONGEST_RESULT || nestsTooDeep(json))
        throw new RunFailure("result_too_large", "The result of run() is larger than 1 MiB, or nests too deep.");
      return { end: { type: "completed", completion: "implicit", json }, warnings };
    }
    const { signal, wraps, error } = JSON.parse(call(tell, result).toString()) as Told;
    const raised = signals();
    const warnings = swallowed(raised, raisedAt, signal);
    if (completion()) return { end: completion()!, warnings };
    if (signal !== null) return { end: { type: "suspended" }, warnings };
    const failure = failureOf(error);
    const wrapped = wraps === null ? undefined : raised[wraps];
    const because = wrapped ? ` (It holds the signal of ${wrapped.call}: a signal is to be thrown on as it is.)` : "";
    const { code: why, line } = failure;
    const nested: TickWarning[] = wrapped
      ? [
          {
            code: "nested_signal",
            message: `The signal of ${wrapped.call} was thrown on within another error.`,
            call: wrapped.call,
            line: lineOf(wrapped.stack),
          },
        ]
      : [];
    const others = warnings.filter(({ call: one }) => one !== wrapped?.call);
    return {
      end: { type: "failed", code: why, message: failure.message + because, line },
      warnings: [...nested, ...others],
    };
  }

  return {
    has: code.has,
    /** Throws an error with the place where it cannot be compiled. */
    async keep(sha256: string, js: string): Promise<void> {
      await fresh();
      code.set(sha256, compile(vm, js));
    },
    /** What `run()` came to. Throws where this program failed, not the script. */
    async run(tick: Tick): Promise<TickOutcome> {
      const asks = createAsking(tick);
      asking = asks;
      created_at = tick.created_at;
      let end: Ended;
      let warnings: TickWarning[] = [];
      try {
        ({ end, warnings } = await outcome(tick, asks));
      } catch (error) {
        if (!(error instanceof RunFailure)) throw error;
        const { code: why, message, line } = error;
        const json = asks.completed();
        end =
          json === undefined
            ? { type: "failed", code: why, message, line }
            : { type: "completed", completion: "explicit", json };
      }
      if (fault) throw fault;
      return { end, warnings, ...asks.told() };
    },
  };
}

export type Ticks = Awaited<ReturnType<typeof openTicks>>;
