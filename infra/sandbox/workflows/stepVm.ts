import { setTimeout as sleep } from "node:timers/promises";
import { EvalFlags, type JSValueHandle, type QuickJS } from "quickjs-wasi";
import { createCpuClock, type CpuClock } from "../vm/cpuClock.ts";
import { createExecution } from "../vm/execution.ts";
import type { RequestLimits } from "../vm/requestMeter.ts";
import { createScriptRun, type ScriptRun } from "../vm/scriptRun.ts";
import type { QuickJsWasm } from "../vm/wasm.ts";
import {
  AttemptFailure,
  checkResult,
  limitFailure,
  scriptFailure,
  stepRejection,
  type ThrownByStep,
} from "./attemptFailure.ts";
import { compileModule, type CodeCache } from "./bytecode.ts";
import { createLogs, STEP_MEMORY_BYTES } from "./limits.ts";
import type { StepOrder, StepOutcome } from "./messages.ts";
import { createRealm, type HostFunction, type RealmKind } from "./realm.ts";
import { nextRetryAfter } from "./retryAfter.ts";
import { STEP_GUEST } from "./stepGuest.ts";
import { vmOptions } from "./vmOptions.ts";
import { callWebFunction } from "./webFunctions.ts";

/** Maximum size of one request, and of what `inspect` returns, in UTF-16 units. */
const MAX_SIZE = 1024 * 1024;
const LIMITS: RequestLimits = { maxSize: MAX_SIZE, maxPending: 20, maxPendingSize: 2 * MAX_SIZE, maxTotal: 1_000 };

export const STEP_KIND: RealmKind = {
  guest: STEP_GUEST,
  hosts: ["request", "addLog", "deliverResult", "webFunction", "randomBytes"],
  reservedBytes: 64 * 1024,
};

/** Maximum wait of setTimeout: the maximum time of a step. */
const MAX_TIMER_MS = 3_600_000;
/** Maximum bytes of one call of crypto.getRandomValues. */
const MAX_RANDOM_BYTES = 65_536;

/** Host functions without effects, which a step may call when it runs speculatively. */
export const pureHosts = (vm: () => QuickJS): Record<"webFunction" | "randomBytes", HostFunction> => ({
  webFunction: (name, texts) => vm().newString(callWebFunction(name.toString(), texts.toString())),
  randomBytes: (count) => {
    const bytes = Math.min(MAX_RANDOM_BYTES, Math.max(0, Number(count.toString()) || 0));
    return vm().newString(Buffer.from(crypto.getRandomValues(new Uint8Array(bytes))).toString("latin1"));
  },
});

/** Sends a step's request to the platform. Resolves with JSON of `{ok: true, value}` or `{ok: false, error}`. */
type SendRequest = (what: string, text: string) => Promise<string>;

export interface Attempt extends StepOrder {
  /** Bytecode, or the source that has to be compiled. */
  script: Uint8Array | string;
  /** Aborts the attempt. */
  signal: AbortSignal;
  send: SendRequest;
}

export interface StepVmOptions {
  wasm: QuickJsWasm;
  /** Maximum CPU milliseconds of an attempt. */
  cpu_ms: number;
  /** Called before and after each stretch of computation. `bytes`: memory of its VM. */
  onEnter?(id: number): void;
  onLeave?(bytes: number): void;
}

type Handle = JSValueHandle;

/** Names the functions that the guest returns (see stepGuest.ts). */
export function nameStepGuest(functions: Handle[]) {
  const [prepare, execute, describe, inspect, executeNow] = functions as [Handle, Handle, Handle, Handle, Handle];
  return { prepare, execute, describe, inspect, executeNow };
}
type StepGuest = ReturnType<typeof nameStepGuest>;

/** The attempt that runs in a VM. */
interface RunningAttempt {
  id: number;
  clock: CpuClock;
  logs: ReturnType<typeof createLogs>;
  run: ScriptRun;
  send: SendRequest;
  retryAfter: number | null;
}

const refuseRequests: SendRequest = () => Promise.reject(new Error("A script makes no requests while it is saved."));
const stuckError = (): AttemptFailure =>
  new AttemptFailure({ message: "The script waits for a promise that never settles.", final: true });
/** 96 random bits, as JSON. */
const randomSeed = (): string => JSON.stringify([...crypto.getRandomValues(new Int32Array(3))]);

/** The VM and its host functions, which serve the current attempt. */
function createStepRealm({ wasm, cpu_ms, onEnter, onLeave }: StepVmOptions) {
  let current: RunningAttempt | undefined;
  const interrupt = (): boolean => current?.clock.check() ?? false;
  const realm = createRealm(STEP_KIND, vmOptions({ wasm, memory: STEP_MEMORY_BYTES, now: Date.now, interrupt }), {
    request: (what: JSValueHandle, text: JSValueHandle) =>
      sendRequest(realm.vm(), current!, what.toString(), text.toString()),
    addLog(line: JSValueHandle) {
      current!.logs.add(line.toString());
      return realm.vm().undefined;
    },
    deliverResult: () => realm.vm().undefined,
    ...pureHosts(() => realm.vm()),
  });
  const execution = createExecution({
    vm: realm.vm,
    isOver: () => current!.clock.isOver(),
    limitError: () => limitFailure(`The script computed for longer than ${cpu_ms / 1_000} seconds.`),
    scriptError: scriptFailure,
    onEnter() {
      current!.clock.start();
      onEnter?.(current!.id);
    },
    onLeave() {
      current!.clock.stop();
      onLeave?.(realm.bytes());
    },
  });
  return {
    realm,
    execution,
    setCurrent: (attempt: RunningAttempt): void => void (current = attempt),
  };
}

/** Resolves after a time that the step chose. No attempt lasts longer than the maximum. */
async function waitFor(text: string): Promise<string> {
  const ms = Number(text);
  await sleep(ms > 0 ? Math.min(ms, MAX_TIMER_MS) : 0, undefined, { ref: false });
  return '{"ok":true,"value":null}';
}

/** Starts a step's request. Returns the promise that the step awaits, or JSON of a refusal. */
function sendRequest(vm: QuickJS, attempt: RunningAttempt, what: string, text: string): JSValueHandle {
  const message = attempt.run.refusal(text.length);
  if (message) return vm.newString(JSON.stringify({ ok: false, error: { message, code: "step_limit" } }));
  const deferred = vm.newPromise();
  const sent = what === "timer" ? waitFor(text) : attempt.send(what, text);
  const answer = sent.then((json) => () => {
    if (what === "fetch") attempt.retryAfter = nextRetryAfter(attempt.retryAfter, json);
    deferred.resolve(vm.newString(json));
  });
  attempt.run.request(text.length, answer);
  return deferred.handle;
}

function bytecodeOf({ sha256, script }: Attempt, vm: QuickJS, codeCache: CodeCache): Uint8Array {
  if (typeof script !== "string") return script;
  const compiled = compileModule(vm, script);
  codeCache.add(sha256, compiled);
  return compiled;
}

/** A VM that runs one attempt after another. */
export function createStepVm(options: StepVmOptions, codeCache: CodeCache) {
  const { realm, execution, setCurrent } = createStepRealm(options);

  async function start(id: number, send: SendRequest): Promise<{ attempt: RunningAttempt; guest: StepGuest }> {
    const guest = nameStepGuest(await realm.resetVm());
    const rejectionError = (reason: JSValueHandle): AttemptFailure =>
      stepRejection(JSON.parse(execution.call(guest.describe, reason).toString()) as ThrownByStep, attempt.retryAfter);
    const run = createScriptRun({ execution, limits: LIMITS, stuckError, rejectionError });
    const clock = createCpuClock(options.cpu_ms);
    const attempt: RunningAttempt = { id, clock, logs: createLogs(), run, send, retryAfter: null };
    setCurrent(attempt);
    execution.call(guest.prepare, realm.vm().newString(randomSeed()));
    return { attempt, guest };
  }

  async function execute(order: Attempt, run: ScriptRun, guest: StepGuest): Promise<string> {
    const vm = realm.vm();
    const code = execution.inside(() => bytecodeOf(order, vm, codeCache));
    const module = await run.settle(execution.inside(() => vm.evalBytecode(code)));
    const promise = execution.call(guest.execute, module, vm.newString(order.step), vm.newString(order.input));
    return checkResult((await run.settle(promise)).toString(), order.max_result_bytes);
  }

  return {
    bytes: realm.bytes,
    /** Throws only if this program fails, not the script. */
    async run(id: number, order: Attempt): Promise<StepOutcome> {
      const { attempt, guest } = await start(id, order.send);
      const { run, logs } = attempt;
      const cancel = (): void => run.fail(new AttemptFailure({ message: "The step was cancelled." }));
      if (order.signal.aborted) cancel();
      order.signal.addEventListener("abort", cancel);
      try {
        return { json: await execute(order, run, guest), logs: logs.lines };
      } catch (error) {
        if (!(error instanceof AttemptFailure)) throw error;
        return { failed: error.details, logs: logs.lines };
      } finally {
        run.end();
        order.signal.removeEventListener("abort", cancel);
      }
    },
    /** Evaluates a script when it is saved. Returns JSON of what it exports. Throws AttemptFailure. */
    async inspect(js: string): Promise<string> {
      const { attempt, guest } = await start(0, refuseRequests);
      const evaluate = () => realm.vm().evalCode(js, "script.js", EvalFlags.TYPE_MODULE);
      const module = await attempt.run.settle(execution.inside(evaluate));
      const json = execution.call(guest.inspect, module).toString();
      if (json.length > MAX_SIZE)
        throw new AttemptFailure({ message: "The exports of the script are larger than 1 MiB." });
      return json;
    },
  };
}

export type StepVm = ReturnType<typeof createStepVm>;
