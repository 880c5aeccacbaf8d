import type { Passage } from "../../reading/reader.ts";

/** UTF-16 units per window (spec: Limits, about 40,000 characters). */
const WINDOW_SIZE = 40_000;

/**
 * As many whole passages as fit into one window, but at least one. Undefined without passages. Reads one passage beyond the window,
 * to know `next_seq`.
 */
export function cutWindow(
  markdown: string,
  passages: Iterable<Pick<Passage, "seq" | "start" | "end">>,
): { text: string; seq: number; start: number; end: number; next_seq: number | null } | undefined {
  let range: { seq: number; start: number; end: number } | undefined;
  for (const { seq, start, end } of passages) {
    if (range && end - range.start > WINDOW_SIZE)
      return { text: markdown.slice(range.start, range.end), ...range, next_seq: seq };
    range = { seq: range?.seq ?? seq, start: range?.start ?? start, end };
  }
  return range && { text: markdown.slice(range.start, range.end), ...range, next_seq: null };
}
