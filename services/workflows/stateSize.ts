import type { History } from "./history.ts";

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
