import type { JSValueHandle } from "quickjs-wasi";
import type { StepResult } from "#services/workflows/tick.ts";
import { processorMs } from "./execution.ts";
import { vmOptions } from "./guestCode.ts";
import { createLogs, nestsTooDeep } from "./limits.ts";
import type { StepOrder } from "./messages.ts";
import { createRealm } from "./realm.ts";
import { STEP_KIND, STEP_MEMORY } from "./stepVm.ts";

/** Processor time after which a step is none that can be run ahead, in milliseconds. */
const MOST_MS = 5;
/** Steps that are known to be none. */
const KNOWN = 1_000;

/**
 * Runs steps at once and without waiting: one that asks the platform for anything, waits, fails or computes for long is given
 * up, and nothing has come of it. `watch` is called before and after.
 */
export function createAheadVm({ wasm, watch }: { wasm: never; watch(runs: boolean): void }) {
  const unfit = new Set<string>();
  let since = Infinity;
  let over = false;
  let asks = false;
  let result: string | undefined;
  let logs = createLogs();

  const realm = createRealm(
    STEP_KIND,
    vmOptions({
      wasm,
      memory: STEP_MEMORY,
      now: Date.now,
      interrupt: () => (over ||= processorMs() - since > MOST_MS),
    }),
    {
      ask() {
        asks = true;
        return realm.vm().newPromise().handle;
      },
      note(line: JSValueHandle) {
        logs.add(line.toString());
        return realm.vm().undefined;
      },
      came(json: JSValueHandle) {
        result = json.toString();
        return realm.vm().undefined;
      },
    },
  );

  function execute([prepare, , , , executeNow]: JSValueHandle[], { step, input }: StepOrder, code: Uint8Array): void {
    const vm = realm.vm();
    const chance = vm.newString(JSON.stringify([...crypto.getRandomValues(new Int32Array(3))]));
    vm.callFunction(prepare!, vm.undefined, chance);
    vm.callFunction(executeNow!, vm.undefined, vm.evalBytecode(code), vm.newString(step), vm.newString(input));
    while (!over && vm.executePendingJobs() > 0);
  }

  return {
    /** To be called when there is time to wait: without it nothing can be run at once. */
    prepare: realm.prepare,
    prepareNow: realm.prepareNow,
    /** Undefined where nothing has come of it. */
    run(order: StepOrder, code: Uint8Array): StepResult | undefined {
      const name = `${order.sha256} ${order.step}`;
      const guest = unfit.has(name) ? undefined : realm.freshNow();
      if (!guest) return undefined;
      [since, over, asks, result] = [processorMs(), false, false, undefined];
      logs = createLogs();
      watch(true);
      try {
        execute(guest, order, code);
      } catch {
        return undefined;
      } finally {
        watch(false);
        since = Infinity;
        if (over || asks) {
          if (unfit.size >= KNOWN) unfit.clear();
          unfit.add(name);
        }
      }
      const json = result as string | undefined;
      if (over || asks || json === undefined) return undefined;
      if (Buffer.byteLength(json) > order.max_result_bytes || nestsTooDeep(json)) return undefined;
      return { json, logs: logs.lines };
    },
  };
}
