import { createHash } from "node:crypto";
import { newId } from "#events/ids.ts";
import type { RecordedRun, Replay, RunReplayer } from "#http/base/runReplayer.ts";
import { createFairSemaphore } from "#services/sharing/fairSemaphore.ts";
import {
  TickLost,
  type MemoEntry,
  type TickCall,
  type TickOutcome,
  type TracedCall,
  type WorkflowRunner,
} from "#services/workflows/tick.ts";
import { compareRun, firstNewCall } from "./compareRun.ts";

/** Runs in memory at the same time: each may have 32 MiB of answers. */
const MAX_AT_ONCE = 4;
/** Up to this many answers, a run that seems to differ is replayed one answer at a time. The cost grows with the square of their number. */
const MAX_STEPWISE = 300;

type Runner = Pick<WorkflowRunner, "tick" | "forget">;

/** The answers in the order in which the run got them, after the fixed values, which `run()` does not await. */
function memoOf({ calls, answered }: RecordedRun): MemoEntry[] {
  const byKey = new Map(calls.map((call) => [call.key, call]));
  const values = calls.filter(({ kind }) => kind === "value").map(({ key }) => key);
  return [...new Set([...values, ...answered])].flatMap((key) => {
    const answer = byKey.get(key)?.answer;
    return answer ? [{ key, value: answer }] : [];
  });
}

const lostOutcome = (message: string): TickOutcome => ({
  end: { type: "failed", code: "run_timeout", message, line: null, column: null },
  pending: [],
  unusedKeys: [],
  notes: [],
  warnings: [],
  logs: [],
});

/** Executes a tick. It has failed if its script ends the thread twice. */
async function tickOrFail(runner: Runner, call: TickCall): Promise<TickOutcome> {
  for (let tries = 1; ; tries++)
    try {
      return await runner.tick(call);
    } catch (error) {
      if (!(error instanceof TickLost)) throw error;
      if (tries === 2) return lostOutcome(error.message);
    }
}

/** Replays a run's ticks with a growing memo. */
async function replayWith(runner: Runner, call: TickCall, run: RecordedRun): Promise<Replay> {
  const answers = memoOf(run);
  const made = new Map<string, TracedCall>();
  const tick = async (memo: MemoEntry[]): Promise<TickOutcome> => {
    const outcome = await tickOrFail(runner, { ...call, memo });
    for (const traced of outcome.calls ?? []) if (!made.has(traced.key)) made.set(traced.key, traced);
    return outcome;
  };
  const whole = compareRun(run, { made, outcome: await tick(answers) });
  if (whole.outcome === "same" || answers.length > MAX_STEPWISE) return whole;
  // with all answers at once, code that takes the first of several may take another path than it did
  made.clear();
  const first = answers.findIndex(({ key }) => run.answered.includes(key));
  const memo = first === -1 ? answers.slice() : answers.slice(0, first);
  for (let n = memo.length; ; n++) {
    const outcome = await tick(memo);
    const canContinue = outcome.end.type === "suspended" && n < answers.length && !firstNewCall(run, outcome);
    if (!canContinue) return compareRun(run, { made, outcome });
    memo.push(answers[n]!);
  }
}

/** Replays runs in the sandbox, where the organizations' ticks take turns. */
export function createRunReplayer(runner: Runner): RunReplayer {
  const semaphore = createFairSemaphore({ total: MAX_AT_ONCE, perTenant: MAX_AT_ONCE / 2 });
  return {
    replay: (organization_id, { js, ordered }, load) =>
      semaphore.run(organization_id, async () => {
        const run = await load();
        if (!run) return undefined;
        // an id of its own, because the runner caches data by run id
        const run_id = newId();
        const { args, headers, created_at } = run;
        const sha256 = createHash("sha256").update(js).digest("hex");
        const call = { organization_id, run_id, seen_as: run.run_id, js, sha256, ordered, args, headers, created_at };
        try {
          return await replayWith(runner, { ...call, now: Date.now(), memo: [], trace: true }, run);
        } finally {
          runner.forget(run_id);
        }
      }),
  };
}
