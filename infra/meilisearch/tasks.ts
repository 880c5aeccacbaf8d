import { setTimeout as sleep } from "node:timers/promises";
import type { IndexChangeId, ChangeResult } from "#services/knowledge/passageIndex.ts";
import type { Server } from "./server.ts";

/** Task uids per request, which keep its URL below 1 kB. */
const MAX_UIDS = 100;
const [FIRST_WAIT_MS, MAX_WAIT_MS] = [10, 250];
/** How much longer each wait is: a change is noticed late by at most this share of its time. */
const GROWTH = 1.25;

interface Task {
  uid: number;
  status: "enqueued" | "processing" | "succeeded" | "failed" | "canceled";
  finishedAt: string | null;
  error: { code: string; message: string } | null;
}

/** Waits until each change has succeeded or failed. A change unknown to the server was lost with its data. */
export const waitForTasks = async (
  server: Server,
  changes: IndexChangeId[],
): Promise<Map<IndexChangeId, ChangeResult>> => {
  const settled = new Map<IndexChangeId, ChangeResult>();
  let open = [...new Set(changes)].toSorted((a, b) => a - b);
  for (let wait = FIRST_WAIT_MS; open.length > 0; wait = Math.min(wait * GROWTH, MAX_WAIT_MS)) {
    const batch = open.slice(0, MAX_UIDS);
    const tasks = await fetchTasks(server, batch);
    for (const change of batch) {
      const outcome = readOutcome(tasks.get(change));
      if (outcome) settled.set(change, outcome);
    }
    open = open.filter((change) => !settled.has(change));
    if (batch.some((change) => !settled.has(change))) await sleep(wait);
  }
  return settled;
};

const fetchTasks = async (server: Server, changes: IndexChangeId[]): Promise<Map<IndexChangeId, Task>> => {
  const { results } = await server.request<{ results: Task[] }>({
    method: "GET",
    path: `/tasks?uids=${changes.join(",")}&limit=${changes.length}`,
    timeoutMs: 10_000,
  });
  return new Map(results.map((task) => [task.uid, task]));
};

const readOutcome = (task: Task | undefined): ChangeResult | undefined => {
  if (!task) return { ok: false, error: "The search server no longer knows this change." };
  if (task.status === "enqueued" || task.status === "processing") return undefined;
  if (task.status === "succeeded" && task.finishedAt)
    return { ok: true, finished_at: new Date(task.finishedAt).toISOString() };
  return {
    ok: false,
    error: task.error ? `${task.error.code}: ${task.error.message}` : `The change was ${task.status}.`,
  };
};
