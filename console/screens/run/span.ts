import type { Run, RunWait, Step } from "../../api/run.ts";
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

/** A row of the timeline: a step or a wait. */
export type Entry = { id: string; step: Step; wait?: never } | { id: string; wait: RunWait; step?: never };

/** Steps and waits in the order in which they began. Those that began together stay in their order. */
export function entriesOf({ steps, waits }: Pick<Run, "steps" | "waits">): Entry[] {
  const entries: { at: number; entry: Entry }[] = [
    ...steps.map((step) => ({ at: Date.parse(step.scheduled_at), entry: { id: step.id, step } })),
    ...waits.map((wait) => ({ at: Date.parse(wait.since), entry: { id: wait.key, wait } })),
  ];
  return entries.toSorted((a, b) => a.at - b.at).map(({ entry }) => entry);
}
