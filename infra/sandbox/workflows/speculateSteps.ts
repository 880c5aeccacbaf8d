import { idempotencyKey, stepId } from "#events/ids.ts";
import type { StepContext, StepResult, TickCall } from "#services/workflows/tick.ts";
import { threadCpuMs, type CpuClock } from "../vm/cpuClock.ts";
import { newStepOrder, type StepOrder } from "./messages.ts";
import type { Speculate } from "./stepCalls.ts";

/** Maximum steps that run within one tick. */
const MAX_STEPS = 256;
/** Maximum JSON of their inputs and results, in UTF-16 units. */
const MAX_JSON = 64 * 1024;
/** CPU milliseconds they may always take, including the code between them. */
const MIN_BUDGET_MS = 5;

export interface SpeculationOptions {
  run_id: string;
  sha256: string;
  speculation: NonNullable<TickCall["speculation"]>;
  /** Measures run() without its steps. */
  clock: CpuClock;
  /** The bytecode of the script; undefined before it is compiled. */
  code(): Uint8Array | undefined;
  run(order: StepOrder, code: Uint8Array): StepResult | undefined;
}

/** Runs steps within their tick, for as much CPU time as the tick took before the first of them. */
export function createSpeculator({ run_id, sha256, speculation, clock, code, run }: SpeculationOptions): Speculate {
  const { run_as, max_result_bytes, effects_of = run_id } = speculation;
  let endMs: number | undefined;
  let stepsLeft = MAX_STEPS;
  let jsonLeft = MAX_JSON;
  return ({ key, name, args }) => {
    const nowMs = threadCpuMs();
    endMs ??= nowMs + Math.max(MIN_BUDGET_MS, clock.spent());
    const bytecode = code();
    if (stepsLeft === 0 || jsonLeft <= 0 || nowMs > endMs || !bytecode) return undefined;
    const context: StepContext = {
      run_id,
      step_id: stepId(run_id, key),
      attempt: 1,
      idempotency_key: idempotencyKey(effects_of, key),
      run_as,
    };
    const order = newStepOrder(context, { sha256, step: name, args, max_result_bytes });
    clock.stop();
    const result = run(order, bytecode);
    clock.start();
    // after a step that cannot run here, run() must wait for its result
    stepsLeft = result ? stepsLeft - 1 : 0;
    jsonLeft -= order.input.length + (result?.json.length ?? 0);
    return result && { order, result };
  };
}
