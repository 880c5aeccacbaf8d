import type { StepEntry } from "#events/runParts.ts";
import { isLive, type LiveRun } from "../deciders/runState.ts";
import { failLostStep } from "./attemptFailure.ts";
import type { History } from "./history.ts";
import type { OpenRun } from "./openRun.ts";
import type { Script } from "./script.ts";

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

/** Steps whose retry is due, and steps that the limits of the run and its batches allow to start. */
export function startableEntries({ history }: OpenRun, script: Script, now: number): StepEntry[] {
  const { state } = history;
  if (!isLive(state)) return [];
  const attempts = new Map(state.steps.map(({ key, attempt }) => [key, attempt]));
  const due = state.steps
    .filter(({ status, retry_at }) => status === "waiting" && Date.parse(retry_at!) <= now)
    .map(({ key }) => key);
  return [...due, ...startableSteps(history, { withLost: true })].map(
    (key): StepEntry =>
      failLostStep(history, script, key) ?? { type: "step_started", key, attempt: attempts.get(key)! + 1 },
  );
}
