import type { Histogram } from "../../api/events.ts";

interface HistogramBar {
  /** Start of the bar. */
  at: string;
  count: number;
  /** A cursor for its newest event; undefined without events. */
  before: string | undefined;
}

/** All bars from the first event to the last, including empty ones. */
export function barsOf({ bar_seconds, data }: Pick<Histogram, "bar_seconds" | "data">): HistogramBar[] {
  const [first, last] = [data[0], data.at(-1)];
  if (!first || !last) return [];
  const found = new Map(data.map((bar) => [Date.parse(bar.at), bar]));
  const width = bar_seconds * 1_000;
  const from = Date.parse(first.at);
  const length = Math.round((Date.parse(last.at) - from) / width) + 1;
  return Array.from({ length }, (_, n) => {
    const at = from + n * width;
    const bar = found.get(at);
    return { at: new Date(at).toISOString(), count: bar?.count ?? 0, before: bar?.before };
  });
}
