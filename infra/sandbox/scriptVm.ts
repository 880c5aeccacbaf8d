import { EvalFlags, QuickJS, type JSValueHandle } from "quickjs-wasi";
import { ScriptError } from "#services/scripting/runner.ts";
import { SCRIPT_GUEST } from "./scriptGuest.ts";
import { createCpuClock, type CpuClock } from "./vm/cpuClock.ts";
import { createExecution } from "./vm/execution.ts";
import type { RequestLimits } from "./vm/requestMeter.ts";
import { createScriptRun } from "./vm/scriptRun.ts";
import { describeThrown, placeInStack, type ScriptException } from "./vm/thrown.ts";
import type { QuickJsWasm } from "./vm/wasm.ts";

const MEMORY_BYTES = 64 * 1024 * 1024;
const STACK_BYTES = 256 * 1024;
/** Maximum size of a result, and of a request to the host, in UTF-16 units. */
const MAX_SIZE = 1024 * 1024;
const MAX_PENDING = 20;
const LIMITS: RequestLimits = {
  maxSize: MAX_SIZE,
  maxPending: MAX_PENDING,
  maxPendingSize: MAX_PENDING * MAX_SIZE,
  maxTotal: 200,
};

/** Sends a request to the host; resolves with JSON, rejects with an error for the script. */
export type SendRequest = (what: "fetch" | "secret", text: string) => Promise<string>;

export interface ScriptVmOptions {
  wasm: QuickJsWasm;
  /** Maximum CPU milliseconds of the script. */
  cpu_ms: number;
}

export const cpuLimitExceeded = (cpu_ms: number): ScriptError =>
  new ScriptError(`The script computed for longer than ${cpu_ms / 1_000} seconds.`);
function failureFrom(thrown: ScriptException): ScriptError {
  const { line, column } = placeInStack(thrown.stack);
  return new ScriptError(describeThrown(thrown), line, column);
}

function refuseImport(name: string): never {
  const refusal = new Error(`A script imports nothing: ${name.slice(0, 200)}`);
  // the stack is that of this process, and the script could read it
  refusal.stack = "";
  throw refusal;
}

const createVm = (wasm: QuickJsWasm, clock: CpuClock): Promise<QuickJS> =>
  QuickJS.create({
    wasm,
    memoryLimit: MEMORY_BYTES,
    maxStackSize: STACK_BYTES,
    timezoneOffset: 0,
    interruptHandler: clock.check,
    moduleLoader: { load: refuseImport },
  });

/** Bytecode of the guest, because compiling it takes longer than running a small script. */
let guestCode: Uint8Array | undefined;

function loadGuest(vm: QuickJS, onRequest: (what: JSValueHandle, text: string) => JSValueHandle) {
  const ask = vm.newFunction("ask", (what, text) => onRequest(what, text.toString()));
  guestCode ??= vm.compile(SCRIPT_GUEST, "<guest>");
  const guest = vm.callFunction(vm.evalBytecode(guestCode), vm.undefined, ask);
  return { inspect: guest.getProp("inspect"), execute: guest.getProp("execute"), describe: guest.getProp("describe") };
}

function checkSize(json: string): string {
  if (json.length <= MAX_SIZE) return json;
  throw new ScriptError(`The result is larger than ${MAX_SIZE / 1024 / 1024} MiB.`);
}

/** A VM for one call of `inspect` or `execute`; it must not be used for another script. */
export async function openScriptVm({ wasm, cpu_ms }: ScriptVmOptions) {
  const clock = createCpuClock(cpu_ms);
  const vm = await createVm(wasm, clock);
  const execution = createExecution({
    vm: () => vm,
    isOver: clock.isOver,
    limitError: () => cpuLimitExceeded(cpu_ms),
    scriptError: failureFrom,
    onEnter: clock.start,
    onLeave: clock.stop,
  });
  let send: SendRequest = () => Promise.reject(new Error("A script makes no requests while it is saved."));

  const guest = loadGuest(vm, (what, text) => {
    const refusal = run.refusal(text.length);
    if (refusal) throw Object.assign(new Error(refusal), { stack: "" });
    const deferred = vm.newPromise();
    const answer = send(what.toString() as "fetch" | "secret", text).then(
      (json) => () => deferred.resolve(vm.newString(json)),
      (error: Error) => () => deferred.reject(vm.newError(error.message)),
    );
    run.request(text.length, answer);
    return deferred.handle;
  });
  const run = createScriptRun({
    execution,
    limits: LIMITS,
    stuckError: () => new ScriptError("The script waits for a promise that never settles."),
    rejectionError: (reason) =>
      failureFrom(JSON.parse(execution.call(guest.describe, reason).toString()) as ScriptException),
  });
  const evaluate = (js: string): Promise<JSValueHandle> =>
    run.settle(execution.inside(() => vm.evalCode(js, "script.js", EvalFlags.TYPE_MODULE)));

  return {
    /** JSON of what a module exports: `{meta, executes}`. */
    async inspect(js: string): Promise<string> {
      return checkSize(execution.call(guest.inspect, await evaluate(js)).toString());
    },
    /** JSON of the result of `execute`. `input` is JSON of `{args, meta}`. */
    async execute(js: string, input: string, sendRequest: SendRequest): Promise<string> {
      send = sendRequest;
      const promise = execution.call(guest.execute, await evaluate(js), vm.newString(input));
      return checkSize((await run.settle(promise)).toString());
    },
  };
}

export type ScriptVm = Awaited<ReturnType<typeof openScriptVm>>;
