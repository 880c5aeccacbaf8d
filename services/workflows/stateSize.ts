import type { StoredValue } from "#events/runParts.ts";
import type { History } from "./history.ts";
import type { MemoEntry } from "./tick.ts";

const sizeOfEntry = ({ value }: MemoEntry): number =>
  "json" in value ? value.json.length : value.error.message.length;

/** Measures the data that a run keeps for its ticks, in UTF-16 units of JSON. Measures each memo entry only once. */
export function createStateSizer(history: Pick<History, "memo">): () => number {
  let measured = { memo: history.memo, counted: 0, size: 0 };
  return () => {
    const { memo } = history;
    if (measured.memo !== memo) measured = { memo, counted: 0, size: 0 };
    for (; measured.counted < memo.length; measured.counted++) measured.size += sizeOfEntry(memo[measured.counted]!);
    return measured.size;
  };
}

const sizeOfValue = (value: StoredValue): number => ("json" in value ? value.json.length : 0);

/** The long texts of a run in memory, in UTF-16 units: its arguments, the inputs of its calls, and their answers. */
export function sizeOfRun({ args, memo, steps, links }: Pick<History, "args" | "memo" | "steps" | "links">): number {
  let size = args.length;
  for (const entry of memo) size += sizeOfEntry(entry);
  for (const step of steps.values()) size += sizeOfValue(step.args);
  for (const child of links.children.values()) size += sizeOfValue(child.args);
  for (const turn of links.agentTurns.values()) size += sizeOfValue(turn.request);
  return size;
}
