import { isLive, type LiveRun } from "../deciders/runState.ts";
import type { History } from "./history.ts";

export interface StepToStart {
  key: string;
  batch: string | null;
  concurrency: number;
}

/** Numbers of running steps, in total and by batch. */
function countRunning({ steps }: History, state: LiveRun): { all: number; byBatch: Map<string | null, number> } {
  const byBatch = new Map<string | null, number>();
  let all = 0;
  for (const { key, status } of state.steps) {
    if (status !== "running") continue;
    all += 1;
    const batch = steps.get(key)?.batch ?? null;
    byBatch.set(batch, (byBatch.get(batch) ?? 0) + 1);
  }
  return { all, byBatch };
}

/**
 * Keys of the steps that can start now, oldest first, within the limits of the run and of each batch. `more`: steps that are being
 * scheduled. Steps that lost a worker are included only `withLost`, because they may have to fail instead.
 */
export function startableSteps(
  history: History,
  { more = [], withLost = false }: { more?: StepToStart[]; withLost?: boolean } = {},
): string[] {
  const { state, queue, steps, batches, created } = history;
  if (!isLive(state)) return [];
  const { all, byBatch } = countRunning(history, state);
  const unlost = new Set(state.steps.filter(({ lost }) => lost === 0).map(({ key }) => key));
  const waiting = queue
    .filter((key) => withLost || unlost.has(key))
    .map((key) => {
      const batch = steps.get(key)?.batch ?? null;
      return { key, batch, concurrency: batch ? batches.get(batch)!.concurrency : Infinity };
    });
  const starts: string[] = [];
  for (const { key, batch, concurrency } of [...waiting, ...more]) {
    if (all + starts.length >= created.limits.max_parallel) break;
    const running = batch === null ? 0 : (byBatch.get(batch) ?? 0);
    if (running >= concurrency) continue;
    byBatch.set(batch, running + 1);
    starts.push(key);
  }
  return starts;
}
