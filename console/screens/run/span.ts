import type { Run, Step } from "../../api/types.ts";
import type { Bounds } from "../../parts/Bar.tsx";

/** The time that the timeline shows, in epoch milliseconds. */
export function boundsOf(run: Pick<Run, "created_at" | "completed_at" | "steps">, now: number): Bounds {
  const from = Date.parse(run.created_at);
  const ends = run.steps.flatMap(({ attempts }) =>
    attempts.map(({ ended_at }) => (ended_at ? Date.parse(ended_at) : now)),
  );
  const to = Math.max(run.completed_at ? Date.parse(run.completed_at) : now, ...ends.slice(-1), from + 1);
  return { from, to };
}

/** From the first attempt to the end of the last one. */
export function stepTime({ attempts, scheduled_at }: Step, now: number): { start: number; end: number } {
  const first = attempts[0];
  const last = attempts.at(-1);
  const start = Date.parse(first?.started_at ?? scheduled_at);
  return { start, end: last?.ended_at ? Date.parse(last.ended_at) : last ? now : start };
}
