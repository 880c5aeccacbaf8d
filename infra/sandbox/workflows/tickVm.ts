import type { TickCall } from "#services/workflows/tick.ts";
import { createCpuClock, type CpuClock } from "../vm/cpuClock.ts";
import { createExecution } from "../vm/execution.ts";
import type { QuickJsWasm } from "../vm/wasm.ts";
import { compileModule } from "./bytecode.ts";
import type { Answer } from "./callAnswers.ts";
import type { CallHistory } from "./callHistory.ts";
import { RUN_MEMORY_BYTES } from "./limits.ts";
import type { TickReply } from "./messages.ts";
import { createRealm, type HostFunction, type RealmKind } from "./realm.ts";
import { RunFailure, runFailure } from "./runFailure.ts";
import type { RaisedSignal } from "./signalWarnings.ts";
import { createSpeculator, type SpeculationOptions } from "./speculateSteps.ts";
import { createSpeculativeVm } from "./speculativeVm.ts";
import { createTickCalls, type TickCalls } from "./tickCalls.ts";
import { seedOf } from "./sharedGuest.ts";
import { tickEnd, type TickEnd } from "./tickEnd.ts";
import { TICK_GUEST } from "./tickGuest.ts";
import { evaluate, nameTickGuest, runModule } from "./tickModule.ts";
import { createTickTrace, type TickTrace } from "./tickTrace.ts";
import { vmOptions } from "./vmOptions.ts";
import { callWebFunction } from "./webFunctions.ts";

/**
 * Maximum interrupts of one tick. QuickJS makes one every 10,000 loops and calls: 1,000 are 0.3 s of ordinary code, independent of
 * the machine's load.
 */
const MAX_INTERRUPTS = 1_000;

const TICK_KIND: RealmKind = {
  guest: TICK_GUEST,
  hosts: ["findAnswer", "requestStep", "request", "webFunction"],
  reservedBytes: 128 * 1024,
};

export interface Tick {
  run_id: string;
  /** The id that `run()` sees. */
  seen_as: string;
  /** Bytecode, or the source that has to be compiled. */
  script: Uint8Array | string;
  /** JSON. */
  args: string;
  /** Headers of the request that started the run. */
  headers: Record<string, string>;
  created_at: number;
  now: number;
  history: CallHistory;
  sha256: string;
  /** Allows speculative steps. */
  speculation?: TickCall["speculation"] | undefined;
  /** Answers reach `run()` one after the other, in the order of the memo. */
  ordered?: true | undefined;
  trace?: true | undefined;
}

interface TickVmOptions {
  wasm: QuickJsWasm;
  /** CPU milliseconds of a tick, because the code between two interrupts may take long. */
  cpu_ms: number;
  /** Called before and after each speculative step. */
  onSpeculate(isSpeculative: boolean): void;
}

/** The tick that runs in a VM. */
interface RunningTick {
  calls: TickCalls;
  trace: TickTrace | undefined;
  created_at: number;
  clock: CpuClock;
  interrupts: number;
  isOver: boolean;
  /** Bytecode that was compiled on this tick. */
  compiled: Uint8Array | undefined;
  /** An error of this program rather than the script. */
  fault: Error | undefined;
  /** By signal id: the number of promises that it rejected and that nothing handles. */
  unhandled: Map<number, number>;
}

const timeoutFailure = (): RunFailure =>
  new RunFailure("run_timeout", "run() computed for longer than it may on one tick. Move the work into a step.");

function countInterrupt(tick: RunningTick, cpu_ms: number): boolean {
  tick.interrupts += 1;
  tick.isOver ||= tick.interrupts > MAX_INTERRUPTS || tick.clock.spent() > cpu_ms;
  return tick.isOver;
}

/** The VM and its host functions, which serve the current tick. */
function createTickRealm(wasm: QuickJsWasm, cpu_ms: number) {
  let current: RunningTick | undefined;
  const hostFunction =
    (answer: (...args: (string | undefined)[]) => Answer): HostFunction =>
    (...args) => {
      try {
        const text = answer(...args.map((arg) => (arg.isUndefined ? undefined : arg.toString())));
        return text === undefined ? realm.vm().undefined : realm.vm().newString(text);
      } catch (error) {
        current!.fault ??= error as Error;
        throw Object.assign(new Error("The call could not be made."), { stack: "" });
      }
    };
  const options = vmOptions({
    wasm,
    memory: RUN_MEMORY_BYTES,
    now: () => current?.created_at ?? 0,
    interrupt: () => current !== undefined && countInterrupt(current, cpu_ms),
  });
  const realm = createRealm(
    TICK_KIND,
    {
      ...options,
      onUnhandledRejection(_promise, { identity }, isHandled) {
        const { unhandled } = current!;
        unhandled.set(identity, (unhandled.get(identity) ?? 0) + (isHandled ? -1 : 1));
      },
    },
    {
      findAnswer: hostFunction((request = "") => current!.calls.findAnswer(request)),
      requestStep: hostFunction((request = "", concurrency) =>
        current!.calls.requestSteps(request, Number(concurrency)),
      ),
      webFunction: hostFunction((name = "", texts = "[]") => callWebFunction(name, texts)),
      request: hostFunction((what = "", name = "", json = "", key) => current!.calls.request(what, name, json, key)),
    },
  );
  const execution = createExecution({
    vm: realm.vm,
    isOver: () => current!.isOver,
    limitError: timeoutFailure,
    scriptError: runFailure,
  });
  return { realm, execution, setCurrent: (tick: RunningTick): void => void (current = tick) };
}

function newRunningTick(tick: Tick, cpu_ms: number, runStep: SpeculationOptions["run"]): RunningTick {
  const { run_id, seen_as, sha256, now, history, script, speculation, created_at } = tick;
  const trace = tick.trace && createTickTrace();
  const clock = createCpuClock(cpu_ms);
  const code = () => running.compiled ?? (typeof script === "string" ? undefined : script);
  const speculate = speculation && createSpeculator({ run_id, sha256, speculation, clock, code, run: runStep });
  const running: RunningTick = {
    calls: createTickCalls({ run_id: seen_as, now, history, onCall: trace?.add, ...(speculate && { speculate }) }),
    trace,
    created_at,
    clock,
    interrupts: 0,
    isOver: false,
    compiled: undefined,
    fault: undefined,
    unhandled: new Map(),
  };
  return running;
}

/** Executes `run()` on every tick in a VM without a trace of earlier ones. */
export function createTickVm({ wasm, cpu_ms, onSpeculate }: TickVmOptions) {
  const { realm, execution, setCurrent } = createTickRealm(wasm, cpu_ms);
  const { call, inside } = execution;
  const stepVm = createSpeculativeVm({ wasm, onSpeculate });

  async function execute({ seen_as, args, headers, script, ordered }: Tick, tick: RunningTick): Promise<TickEnd> {
    tick.clock.start();
    const guest = nameTickGuest(await realm.resetVm());
    const vm = realm.vm();
    tick.trace?.begin(() => vm.callFunction(guest.stack, vm.undefined).toString());
    const rest = JSON.stringify({ headers, runId: seen_as, seed: seedOf(seen_as), ordered });
    call(guest.prepare, vm.newString(`{"args":${args},${rest.slice(1)}`));
    if (typeof script === "string") tick.compiled = inside(() => compileModule(vm, script));
    const code = typeof script === "string" ? tick.compiled! : script;
    const module = await evaluate(realm, execution, code, guest);
    const state = await runModule(execution, module, guest, () => tick.calls.ended() !== undefined);
    return tickEnd(state, tick.calls.isOpen(), {
      raised: () => JSON.parse(call(guest.allSignals).toString()) as RaisedSignal[],
      isAwaited: (n) => (tick.unhandled.get(call(guest.signalAt, vm.newNumber(n)).identity) ?? 0) <= 0,
    });
  }

  return {
    /** Resets both VMs in advance: 0.1 ms while idle, 0.25 ms once they have left the processor's cache. */
    prepare(): void {
      realm.prepareNow();
      stepVm.prepareNow();
    },
    /** Runs a tick. `compiled`: the bytecode, if it was compiled. Throws only if this program fails, not the script. */
    async run(tick: Tick): Promise<TickReply & { compiled: Uint8Array | undefined }> {
      if (tick.speculation) await stepVm.prepare();
      const running = newRunningTick(tick, cpu_ms, stepVm.run);
      setCurrent(running);
      const { end, warnings } = await execute(tick, running).catch((error: unknown): TickEnd => {
        if (error instanceof RunFailure) return { end: error.end(), warnings: [] };
        throw error;
      });
      const { calls, trace, compiled, fault } = running;
      if (fault) throw fault;
      // the first complete() or continueAs() counts, whatever run() did afterwards
      const outcome = { end: calls.ended() ?? end, warnings, ...calls.outcome(), ...(trace && { calls: trace.calls }) };
      return { outcome, speculated: calls.takeSpeculated(), compiled };
    },
  };
}
