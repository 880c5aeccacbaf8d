import { dropOldest } from "#events/dropOldest.ts";
import type { MemoEntry, StepCall, StepResult, TickCall, TickOutcome } from "#services/workflows/tick.ts";
import { newStepOrder, type SpeculatedStep, type TickReply } from "./messages.ts";

/** Maximum runs with unused speculated steps; each takes about 64 KiB of JSON. */
const MAX_RUNS = 500;

interface SpeculatedRun {
  memo: MemoEntry[];
  /** Length of the memo when its last outcome was returned. */
  length: number;
  steps: SpeculatedStep[];
  last: TickOutcome;
  /** Lines that `run()` had logged up to the last returned outcome. */
  logs: string[];
  /** Index of the next step, and whether its result has been used. */
  next: number;
  isUsed: boolean;
}

const isSameStep = ({ sha256, step, args, context, max_result_bytes }: StepCall, { order }: SpeculatedStep): boolean =>
  order.sha256 === sha256 &&
  order.step === step &&
  order.max_result_bytes === max_result_bytes &&
  order.input === newStepOrder(context, { sha256, step, args, max_result_bytes }).input;

/** Whether the memo has grown by exactly the predicted entries. */
function grewAsPredicted({ memo, length, steps, next }: SpeculatedRun): boolean {
  const { key, result, outcome } = steps[next]!;
  const predicted = new Map([...outcome.notes, { key, json: result.json }].map((entry) => [entry.key, entry.json]));
  for (let n = length; n < memo.length; n++) {
    const { key: added, value } = memo[n]!;
    if (!("json" in value) || predicted.get(added) !== value.json) return false;
  }
  return memo.at(-1)?.key === key;
}

/**
 * Keeps the results of speculative steps, and the outcome of the tick after each. They are returned when the run asks for them, as
 * long as everything happens as predicted; otherwise they are dropped.
 */
export function createSpeculation() {
  const runs = new Map<string, SpeculatedRun>();
  return {
    /** Stores the speculated steps of a tick. Returns the outcome of the tick that its run gets to see. */
    put(
      run_id: string,
      { memo, length }: Pick<SpeculatedRun, "memo" | "length">,
      { speculated, outcome }: TickReply,
    ): TickOutcome {
      runs.delete(run_id);
      const [first] = speculated;
      if (!first) return outcome;
      const { logs } = first.outcome;
      runs.set(run_id, { memo, length, steps: speculated, last: outcome, logs, next: 0, isUsed: false });
      dropOldest(runs, MAX_RUNS);
      return first.outcome;
    },
    /** The result of a step that ran speculatively. */
    step(call: StepCall): StepResult | undefined {
      const { run_id } = call.context;
      const run = runs.get(run_id);
      if (!run) return undefined;
      const step = run.steps[run.next]!;
      if (!run.isUsed && isSameStep(call, step)) {
        run.isUsed = true;
        return step.result;
      }
      runs.delete(run_id);
      return undefined;
    },
    /** The outcome of a tick that was already computed. */
    tick({ run_id, memo }: TickCall): TickOutcome | undefined {
      const run = runs.get(run_id);
      if (!run) return undefined;
      if (run.memo !== memo || !run.isUsed || !grewAsPredicted(run)) {
        runs.delete(run_id);
        return undefined;
      }
      const step = run.steps[run.next + 1];
      if (!step) {
        runs.delete(run_id);
        return run.last;
      }
      const logs = [...run.logs, ...step.outcome.logs];
      Object.assign(run, { next: run.next + 1, isUsed: false, length: memo.length, logs });
      return { ...step.outcome, logs };
    },
    forget: (run_id: string): void => void runs.delete(run_id),
  };
}
