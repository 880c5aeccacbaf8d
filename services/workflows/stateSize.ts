import type { History } from "./history.ts";

/** Measures the data that a run keeps for its ticks, in UTF-16 units of JSON. Measures each memo entry only once. */
export function createStateSizer(history: Pick<History, "memo">): () => number {
  let measured = { memo: history.memo, counted: 0, size: 0 };
  return () => {
    const { memo } = history;
    if (measured.memo !== memo) measured = { memo, counted: 0, size: 0 };
    for (; measured.counted < memo.length; measured.counted++) {
      const { value } = memo[measured.counted]!;
      measured.size += "json" in value ? value.json.length : value.error.message.length;
    }
    return measured.size;
  };
}
