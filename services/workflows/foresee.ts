import type { Entry } from "#events/run.ts";
import { foretell, type History } from "./history.ts";
import type { Values } from "./values.ts";

/**
 * What steps came to is known to `run()` before it is recorded: both are recorded together, or neither.
 * Whether it is something that `run()` waits for.
 */
export async function foresee(history: History, values: Pick<Values, "json">, entries: Entry[]): Promise<boolean> {
  const isOver = (entry: Entry): boolean =>
    entry.type === "step_completed" || (entry.type === "step_attempt_failed" && entry.retry_at === null);
  const batchOf = ({ key }: Entry): string | null => history.steps.get(key)?.batch ?? null;
  let news = false;
  for (const entry of entries) {
    if (entry.type === "step_started") continue;
    const step = "steps" in history.state ? history.state.steps[entry.key] : undefined;
    if (entry.type === "step_attempt_failed" && entry.retry_at !== null) continue;
    // the run ends with it
    if (entry.type === "step_attempt_failed" && step?.on_error === "fail") return false;
    if (entry.type === "step_completed") foretell(history, entry.key, { json: await values.json(entry.result) });
    else foretell(history, entry.key, { error: { code: entry.code, message: entry.error.message } });
    const batch = batchOf(entry);
    const ending = entries.filter((other) => batch !== null && batchOf(other) === batch && isOver(other)).length;
    const open = batch === null ? 0 : history.batches.get(batch)!.open - ending;
    if (open <= 0) news = true;
  }
  return news;
}

/** JSON of everything that a run keeps for its ticks, in UTF-16 units; each part is counted once. */
export function stateSize(history: Pick<History, "memo">): () => number {
  let sized = { memo: history.memo, counted: 0, size: 0 };
  return () => {
    const { memo } = history;
    if (sized.memo !== memo) sized = { memo, counted: 0, size: 0 };
    for (; sized.counted < memo.length; sized.counted++) {
      const { value } = memo[sized.counted]!;
      sized.size += "json" in value ? value.json.length : value.error.message.length;
    }
    return sized.size;
  };
}
