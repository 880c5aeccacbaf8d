import { EvalFlags, QuickJS, type JSValueHandle } from "quickjs-wasi";
import { ScriptFailed } from "#services/scripting/runner.ts";
import { PRELUDE } from "./prelude.ts";

const MEMORY = 64 * 1024 * 1024;
const STACK = 256 * 1024;
/** Largest result, and largest thing that is asked of the host, in UTF-16 units. */
const MOST = 1024 * 1024;
/** Asks of one script that may be under way at once, and that it may make in all. */
const ASKS_AT_ONCE = 20;
const ASKS = 200;
const NAME = "script.js";
/** As QuickJS counts the states of a promise. */
const PENDING = 0;
const FULFILLED = 1;

/** Asks the host; resolves with JSON, rejects with why not. */
export type Ask = (what: "fetch" | "secret", text: string) => Promise<string>;

export const computedTooLong = (cpu_ms: number): ScriptFailed =>
  new ScriptFailed(`The script computed for longer than ${cpu_ms / 1_000} seconds.`);
/** The prelude's bytecode: compiling it takes longer than all that a small script does. */
let prelude: Uint8Array | undefined;
const NEVER = "The script waits for something that never comes.";

/** Line of the script, counted from 1, where a stack says one. */
function lineOf(stack: string | null | undefined): number | null {
  const found = stack?.match(/script\.js:(\d+)/)?.[1];
  return found ? Number(found) : null;
}

function failureOf({ name, message, stack }: { name?: string | null; message: string; stack?: string | null }) {
  const words = `${name && name !== "Error" ? `${name}: ` : ""}${message}`;
  return new ScriptFailed(words.slice(0, 2_000), lineOf(stack?.slice(0, 20_000)));
}

/** Processor time of this thread, in milliseconds: a busy machine takes none of it away. */
const processorMs = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
};

/** Counts what a script computes, waiting left out. */
function createClock(cpu_ms: number) {
  let used = 0;
  let since: number | undefined;
  let over = false;
  const spent = () => used + (since === undefined ? 0 : processorMs() - since);
  return {
    isOver: () => over,
    look: () => (over ||= spent() > cpu_ms),
    start: () => void (since = processorMs()),
    stop(): void {
      used = spent();
      since = undefined;
    },
  };
}

const noModules = (name: string): never => {
  const refusal = new Error(`A script imports nothing: ${name.slice(0, 200)}`);
  // the stack is this process's, and the script would see it
  refusal.stack = "";
  throw refusal;
};

export interface VmOptions {
  /** QuickJS, compiled. */
  wasm: never;
  /** What its script may compute, waiting left out, in milliseconds of processor time. */
  cpu_ms: number;
}

/**
 * A VM for one script, which is to be thrown away with all that is in it after one call of `inspect` or `execute`.
 */
export async function openVm({ wasm, cpu_ms }: VmOptions) {
  const clock = createClock(cpu_ms);
  const vm = await QuickJS.create({
    wasm,
    memoryLimit: MEMORY,
    maxStackSize: STACK,
    timezoneOffset: 0,
    interruptHandler: clock.look,
    moduleLoader: { load: noModules },
  });
  let ask: Ask = () => Promise.reject(new Error("A script asks for nothing while it is saved."));
  let asks = 0;
  let asking = 0;
  let failure: ScriptFailed | undefined;
  let wake = () => {};

  /** Runs the VM and counts the time; whatever it throws is the script's. */
  function inside<T>(work: () => T): T {
    clock.start();
    try {
      return work();
    } catch (error) {
      if (clock.isOver()) throw computedTooLong(cpu_ms);
      throw failureOf(error as Error);
    } finally {
      clock.stop();
    }
  }

  /** Runs everything that has become possible. */
  function goOn(): void {
    inside(() => {
      while (vm.executePendingJobs() > 0);
    });
    if (clock.isOver()) throw computedTooLong(cpu_ms);
  }

  /** Gives the script what it asked for. */
  function answer(settle: () => void): void {
    asking -= 1;
    try {
      inside(settle);
      goOn();
    } catch (error) {
      failure ??= error as ScriptFailed;
    }
    wake();
  }

  function refusal(asked: string): string | undefined {
    if (asked.length > MOST) return "What is asked is too large.";
    if (asking >= ASKS_AT_ONCE) return "Too much is asked at once.";
    if (asks >= ASKS) return "Too much is asked.";
    return undefined;
  }

  const host = vm.newFunction("ask", (what, text) => {
    const asked = text.toString();
    const refused = refusal(asked);
    if (refused) throw Object.assign(new Error(refused), { stack: "" });
    const deferred = vm.newPromise();
    asking += 1;
    asks += 1;
    ask(what.toString() as "fetch" | "secret", asked).then(
      (json) => answer(() => deferred.resolve(vm.newString(json))),
      (error: Error) => answer(() => deferred.reject(vm.newError(error.message))),
    );
    return deferred.handle;
  });
  prelude ??= vm.compile(PRELUDE, "<prelude>");
  const made = vm.callFunction(vm.evalBytecode(prelude), vm.undefined, host);
  const [inspect, execute, describe] = [made.getProp("inspect"), made.getProp("execute"), made.getProp("describe")];

  /** What was thrown, read where its getters can do no harm. */
  function thrown(error: JSValueHandle): ScriptFailed {
    const told = inside(() => vm.callFunction(describe, vm.undefined, error).toString());
    const [name, message, stack] = JSON.parse(told) as [string | null, string, string | null];
    return failureOf({ name, message, stack });
  }

  /** Waits for a promise of the VM; one that nothing is asked for any more will never be kept. */
  async function settled(promise: JSValueHandle): Promise<JSValueHandle> {
    goOn();
    while (promise.promiseState === PENDING) {
      if (asking === 0) throw new ScriptFailed(NEVER);
      await new Promise<void>((resolve) => (wake = resolve));
      if (failure) throw failure;
    }
    const kept = promise.promiseState === FULFILLED;
    const outcome = await vm.resolvePromise(promise);
    if (kept && "value" in outcome) return outcome.value;
    throw thrown((outcome as { error: JSValueHandle }).error);
  }

  const evaluate = (js: string): Promise<JSValueHandle> =>
    settled(inside(() => vm.evalCode(js, NAME, EvalFlags.TYPE_MODULE)));

  const said = (value: JSValueHandle): string => {
    const json = value.toString();
    if (json.length > MOST) throw new ScriptFailed(`The result is larger than ${MOST / 1024 / 1024} MiB.`);
    return json;
  };

  return {
    /** JSON of what a module says of itself: `{meta, executes}`. */
    async inspect(js: string): Promise<string> {
      const module = await evaluate(js);
      return said(inside(() => vm.callFunction(inspect, vm.undefined, module)));
    },
    /** JSON of what `execute` came to. `input` is JSON of `{args, meta}`. */
    async execute(js: string, input: string, asked: Ask): Promise<string> {
      ask = asked;
      const module = await evaluate(js);
      const promise = inside(() => vm.callFunction(execute, vm.undefined, module, vm.newString(input)));
      return said(await settled(promise));
    },
  };
}

export type Vm = Awaited<ReturnType<typeof openVm>>;
