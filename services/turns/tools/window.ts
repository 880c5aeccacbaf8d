import type { Passage } from "../../reading/reader.ts";

/** UTF-16 units of one window (spec: Limits, about 40,000 characters). */
const SIZE = 40_000;

/** Whole passages from one on, as many as fit, and at least one; undefined where there is none of this number. */
export function windowOf(
  markdown: string,
  passages: Pick<Passage, "seq" | "start" | "end">[],
  from: number,
): { text: string; next_seq: number | null } | undefined {
  const at = passages.findIndex(({ seq }) => seq === from);
  const first = passages[at];
  if (!first) return undefined;
  let end = at + 1;
  while (end < passages.length && passages[end]!.end - first.start <= SIZE) end++;
  const text = markdown.slice(first.start, passages[end - 1]!.end);
  return { text, next_seq: passages[end]?.seq ?? null };
}
