import type { Passage } from "../../reading/reader.ts";

/** UTF-16 units of one window (spec: Limits, about 40,000 characters). */
const SIZE = 40_000;

/** Whole passages from the first of these on, as many as fit, and at least one; undefined where there is none. One more is taken than that. */
export function windowOf(
  markdown: string,
  passages: Iterable<Pick<Passage, "seq" | "start" | "end">>,
): { text: string; next_seq: number | null } | undefined {
  let range: { start: number; end: number } | undefined;
  for (const { seq, start, end } of passages) {
    if (range && end - range.start > SIZE) return { text: markdown.slice(range.start, range.end), next_seq: seq };
    range = { start: range?.start ?? start, end };
  }
  return range && { text: markdown.slice(range.start, range.end), next_seq: null };
}
