import type { MemoEntry, StepCall, StepResult, TickCall, TickOutcome } from "#services/workflows/tick.ts";
import { stepOrder, type Early, type Ticked } from "./messages.ts";

/** Runs of which something is kept; each holds 64 KiB of JSON or a little more. */
const MOST = 500;

interface Ahead {
  memo: MemoEntry[];
  /** How much of the memo the tick was told. */
  length: number;
  early: Early[];
  last: TickOutcome;
  /** Lines that `run()` had logged by the one that was told last. */
  logs: string[];
  /** Which of them is next, and whether its step was asked for. */
  at: number;
  asked: boolean;
}

const isSame = ({ sha256, step, args, context, max_result_bytes }: StepCall, { order }: Early): boolean =>
  order.sha256 === sha256 &&
  order.step === step &&
  order.max_result_bytes === max_result_bytes &&
  order.input === stepOrder(context, { sha256, step, args, max_result_bytes }).input;

/** Whether the memo has grown by what was foreseen, and by nothing else. */
function isForeseen({ memo, length, early, at }: Ahead): boolean {
  const { key, result, outcome } = early[at]!;
  const foreseen = new Map([...outcome.notes, { key, json: result.json }].map((one) => [one.key, one.json]));
  for (let n = length; n < memo.length; n++) {
    const { key: more, value } = memo[n]!;
    if (!("json" in value) || foreseen.get(more) !== value.json) return false;
  }
  return memo.at(-1)?.key === key;
}

/**
 * What ticks have run ahead: steps that asked nothing of the platform, and what `run()` made of each. It is told when it is asked
 * for, and only where all has come as foreseen.
 */
export function createAheads() {
  const aheads = new Map<string, Ahead>();
  return {
    /** Keeps what is not asked for yet; gives what `run()` asked first. */
    put(run_id: string, { memo, length }: Pick<Ahead, "memo" | "length">, { early, outcome }: Ticked): TickOutcome {
      aheads.delete(run_id);
      const [first] = early;
      if (!first) return outcome;
      aheads.set(run_id, { memo, length, early, last: outcome, logs: first.outcome.logs, at: 0, asked: false });
      if (aheads.size > MOST) aheads.delete(aheads.keys().next().value!);
      return first.outcome;
    },
    step(call: StepCall): StepResult | undefined {
      const { run_id } = call.context;
      const ahead = aheads.get(run_id);
      if (!ahead) return undefined;
      const one = ahead.early[ahead.at]!;
      if (!ahead.asked && isSame(call, one)) {
        ahead.asked = true;
        return one.result;
      }
      aheads.delete(run_id);
      return undefined;
    },
    tick({ run_id, memo }: TickCall): TickOutcome | undefined {
      const ahead = aheads.get(run_id);
      if (!ahead) return undefined;
      if (ahead.memo !== memo || !ahead.asked || !isForeseen(ahead)) {
        aheads.delete(run_id);
        return undefined;
      }
      const next = ahead.early[ahead.at + 1];
      if (!next) {
        aheads.delete(run_id);
        return ahead.last;
      }
      const logs = [...ahead.logs, ...next.outcome.logs];
      Object.assign(ahead, { at: ahead.at + 1, asked: false, length: memo.length, logs });
      return { ...next.outcome, logs };
    },
    forget: (run_id: string): void => void aheads.delete(run_id),
  };
}
