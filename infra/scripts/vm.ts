import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { EvalFlags, QuickJS, type JSValueHandle } from "quickjs-wasi";
import { ScriptFailed } from "#services/scripting/runner.ts";
import { PRELUDE } from "./prelude.ts";

const MEMORY = 64 * 1024 * 1024;
const STACK = 256 * 1024;
/** What a script may compute, waiting left out, in milliseconds. */
const CPU_MS = 2_000;
/** Largest result, and largest thing that is asked of the host, in UTF-16 units. */
const MOST = 1024 * 1024;
/** Asks of one script that may be under way at once. */
const ASKS = 20;
const NAME = "script.js";
/** As QuickJS counts the states of a promise. */
const PENDING = 0;

// TypeScript knows WebAssembly as a thing of browsers
const { Module } = Reflect.get(globalThis, "WebAssembly") as { Module: new (bytes: Uint8Array) => never };
const wasm = new Module(readFileSync(createRequire(import.meta.url).resolve("quickjs-wasi/quickjs.wasm")));

/** Asks the host; resolves with JSON, rejects with why not. */
export type Ask = (what: "fetch" | "secret", text: string) => Promise<string>;

const TOO_LONG = `The script computed for longer than ${CPU_MS / 1_000} seconds.`;
const NEVER = "The script waits for something that never comes.";
const tooLarge = (what: string) => new ScriptFailed(`${what} is larger than ${MOST / 1024 / 1024} MiB.`);

/** Line of the script, counted from 1, where a stack says one. */
function lineOf(stack: string | undefined): number | null {
  const found = stack?.match(/script\.js:(\d+)/)?.[1];
  return found ? Number(found) : null;
}

/** A VM of its own for one script; nothing of it outlives `close`. */
export async function openVm(ask: Ask) {
  let used = 0;
  let since: number | undefined;
  let over = false;
  const spent = () => used + (since === undefined ? 0 : performance.now() - since);
  const vm = await QuickJS.create({
    wasm,
    memoryLimit: MEMORY,
    maxStackSize: STACK,
    timezoneOffset: 0,
    interruptHandler: () => (over ||= spent() > CPU_MS),
    moduleLoader: {
      load: (name: string) => {
        throw new Error(`A script imports nothing: ${name}`);
      },
    },
  });
  let asking = 0;
  let closed = false;
  let failure: ScriptFailed | undefined;
  let wake = () => {};

  /** Runs the VM and counts the time; whatever it throws is the script's. */
  function inside<T>(work: () => T): T {
    since = performance.now();
    try {
      return work();
    } catch (error) {
      if (over) throw new ScriptFailed(TOO_LONG);
      const { message, stack, name } = error as Error;
      throw new ScriptFailed(`${name === "Error" ? "" : `${name}: `}${message}`, lineOf(stack));
    } finally {
      used = spent();
      since = undefined;
    }
  }

  /** Runs everything that has become possible. */
  function goOn(): void {
    inside(() => {
      while (vm.executePendingJobs() > 0);
    });
    if (over) throw new ScriptFailed(TOO_LONG);
  }

  /** Gives the script what it asked for. */
  function answer(settle: () => void): void {
    asking -= 1;
    if (closed) return;
    try {
      inside(settle);
      goOn();
    } catch (error) {
      failure = error as ScriptFailed;
    }
    wake();
  }

  const host = vm.newFunction("ask", (what, text) => {
    const deferred = vm.newPromise();
    const asked = text.toString();
    const kind = what.toString() as "fetch" | "secret";
    const refused =
      asked.length > MOST ? "What is asked is too large." : asking >= ASKS ? "Too much is asked at once." : "";
    asking += 1;
    (refused ? Promise.reject(new Error(refused)) : ask(kind, asked)).then(
      (json) => answer(() => deferred.resolve(vm.newString(json))),
      (error: Error) => answer(() => deferred.reject(vm.newError(error.message))),
    );
    return deferred.handle;
  });
  vm.setProp(vm.global, "__ask", host);
  host.dispose();
  vm.evalCode(PRELUDE, "<prelude>").dispose();
  const own = (name: string): JSValueHandle => {
    const found = vm.global.getProp(name);
    vm.evalCode(`delete globalThis.${name}`).dispose();
    return found;
  };
  const meta = own("__meta");
  const execute = own("__execute");

  /** Waits for a promise of the VM; one that nothing is asked for any more will never be kept. */
  async function settled(promise: JSValueHandle): Promise<JSValueHandle> {
    goOn();
    while (promise.promiseState === PENDING) {
      if (asking === 0) throw new ScriptFailed(NEVER);
      await new Promise<void>((resolve) => (wake = resolve));
      if (failure) throw failure;
    }
    const outcome = vm.resolvePromise(promise);
    goOn();
    const result = await outcome;
    if ("error" in result) throw thrown(result.error);
    return result.value;
  }

  function thrown(error: JSValueHandle): ScriptFailed {
    const read = (name: string): string | undefined => {
      const value = error.isObject ? error.getProp(name) : undefined;
      return value?.isString ? value.toString() : undefined;
    };
    const [name, message, stack] = [read("name"), read("message"), read("stack")];
    const words = message === undefined ? error.toString() : `${name && name !== "Error" ? `${name}: ` : ""}${message}`;
    return new ScriptFailed(words.slice(0, 2_000), lineOf(stack));
  }

  async function evaluate(js: string): Promise<JSValueHandle> {
    return settled(inside(() => vm.evalCode(js, NAME, EvalFlags.TYPE_MODULE)));
  }

  const said = (value: JSValueHandle): string => {
    const json = value.toString();
    if (json.length > MOST) throw tooLarge("The result");
    return json;
  };

  return {
    async inspect(js: string): Promise<string> {
      const module = await evaluate(js);
      return said(inside(() => vm.callFunction(meta, vm.undefined, module)));
    },
    async execute(js: string, input: string): Promise<string> {
      const module = await evaluate(js);
      const promise = inside(() => vm.callFunction(execute, vm.undefined, module, vm.newString(input)));
      return said(await settled(promise));
    },
    close(): void {
      closed = true;
      vm.dispose();
    },
  };
}
