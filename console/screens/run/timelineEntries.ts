import type { Run, RunWait, Step } from "../../api/run.ts";
import type { Bounds } from "../../parts/Bar.tsx";

/** The range of the timeline, in epoch milliseconds. Activity of a step after the end of its run is at the edge. */
export function boundsOf({ created_at, completed_at }: Pick<Run, "created_at" | "completed_at">, now: number): Bounds {
  const from = Date.parse(created_at);
  return { from, to: Math.max(completed_at ? Date.parse(completed_at) : now, from + 1) };
}

/** From the first attempt to the end of the last one. */
export function stepTime({ attempts, scheduled_at }: Step, now: number): { start: number; end: number } {
  const first = attempts[0];
  const last = attempts.at(-1);
  const start = Date.parse(first?.started_at ?? scheduled_at);
  if (!last) return { start, end: start };
  return { start, end: last.ended_at ? Date.parse(last.ended_at) : now };
}

/** A row of the timeline: a wait, or a step by its position in the list of steps. */
export type TimelineEntry = { wait: RunWait; place?: never } | { place: number; wait?: never };

/** Steps and waits in the order in which they began. */
export function listEntries({ counts, waits }: Pick<Run, "counts" | "waits">): TimelineEntry[] {
  const entries: TimelineEntry[] = [];
  let place = 0;
  const addSteps = (until: number) => {
    for (; place < until; place++) entries.push({ place });
  };
  for (const wait of waits) {
    addSteps(Math.min(wait.steps_before, counts.steps));
    entries.push({ wait });
  }
  addSteps(counts.steps);
  return entries;
}
