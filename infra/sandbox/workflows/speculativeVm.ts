import type { JSValueHandle } from "quickjs-wasi";
import type { StepResult } from "#services/workflows/tick.ts";
import { createCpuClock } from "../vm/cpuClock.ts";
import type { QuickJsWasm } from "../vm/wasm.ts";
import { createLogs, nestsTooDeep, STEP_MEMORY_BYTES } from "./limits.ts";
import type { StepOrder } from "./messages.ts";
import { createRealm } from "./realm.ts";
import { nameStepGuest, pureHosts, STEP_KIND } from "./stepVm.ts";
import { vmOptions } from "./vmOptions.ts";

/** Maximum CPU milliseconds of a speculative step. */
const MAX_STEP_MS = 5;
/** Maximum steps remembered as unfit. */
const MAX_UNFIT = 1_000;

interface SpeculativeVmOptions {
  wasm: QuickJsWasm;
  /** Called before and after each step. */
  onSpeculate(isSpeculative: boolean): void;
}

const newAttempt = () => ({
  clock: createCpuClock(MAX_STEP_MS),
  logs: createLogs(),
  hasRequested: false,
  result: undefined as string | undefined,
});

/** The VM and its host functions, which record the actions of the current attempt. */
function createSpeculativeRealm(wasm: QuickJsWasm) {
  let current = newAttempt();
  const realm = createRealm(
    STEP_KIND,
    vmOptions({ wasm, memory: STEP_MEMORY_BYTES, now: Date.now, interrupt: () => current.clock.check() }),
    {
      request() {
        current.hasRequested = true;
        return realm.vm().newPromise().handle;
      },
      addLog(line: JSValueHandle) {
        current.logs.add(line.toString());
        return realm.vm().undefined;
      },
      deliverResult(json: JSValueHandle) {
        current.result = json.toString();
        return realm.vm().undefined;
      },
      ...pureHosts(() => realm.vm()),
    },
  );
  return { realm, startAttempt: () => (current = newAttempt()) };
}

/** Runs steps synchronously. A step that requests anything from the platform, waits, fails or computes too long is abandoned and leaves no trace. */
export function createSpeculativeVm({ wasm, onSpeculate }: SpeculativeVmOptions) {
  const { realm, startAttempt } = createSpeculativeRealm(wasm);
  /** Steps that requested something or computed too long. */
  const unfit = new Set<string>();

  function execute(guest: JSValueHandle[], { step, input }: StepOrder, code: Uint8Array, isOver: () => boolean): void {
    const { prepare, executeNow } = nameStepGuest(guest);
    const vm = realm.vm();
    const seed = vm.newString(JSON.stringify([...crypto.getRandomValues(new Int32Array(3))]));
    vm.callFunction(prepare, vm.undefined, seed);
    vm.callFunction(executeNow, vm.undefined, vm.evalBytecode(code), vm.newString(step), vm.newString(input));
    while (!isOver() && vm.executePendingJobs() > 0);
  }

  return {
    /** Opens or resets the VM. Before that, no step can run. */
    prepare: realm.prepare,
    prepareNow: realm.prepareNow,
    /** The result; undefined if the step was abandoned. */
    run(order: StepOrder, code: Uint8Array): StepResult | undefined {
      const name = `${order.sha256} ${order.step}`;
      const guest = unfit.has(name) ? undefined : realm.resetVmNow();
      if (!guest) return undefined;
      const attempt = startAttempt();
      attempt.clock.start();
      onSpeculate(true);
      try {
        execute(guest, order, code, attempt.clock.isOver);
      } catch {
        return undefined;
      } finally {
        onSpeculate(false);
        attempt.clock.stop();
        if (attempt.clock.isOver() || attempt.hasRequested) {
          if (unfit.size >= MAX_UNFIT) unfit.clear();
          unfit.add(name);
        }
      }
      const { result, logs, hasRequested, clock } = attempt;
      if (clock.isOver() || hasRequested || result === undefined) return undefined;
      if (Buffer.byteLength(result) > order.max_result_bytes || nestsTooDeep(result)) return undefined;
      return { json: result, logs: logs.lines };
    },
  };
}
