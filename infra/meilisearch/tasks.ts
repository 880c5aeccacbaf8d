import { setTimeout as sleep } from "node:timers/promises";
import type { Change, Settled } from "#services/knowledge/passageIndex.ts";
import type { Server } from "./server.ts";

/** Uids in one question: the address stays below 1 kB. */
const AT_ONCE = 100;
const [FIRST_WAIT_MS, LONGEST_WAIT_MS] = [10, 500];

interface Task {
  uid: number;
  status: "enqueued" | "processing" | "succeeded" | "failed" | "canceled";
  finishedAt: string | null;
  error: { code: string; message: string } | null;
}

/** Waits until each change is done or refused; one that the server does not know was lost with what it kept. */
export const settle = async (server: Server, changes: Change[]): Promise<Map<Change, Settled>> => {
  const settled = new Map<Change, Settled>();
  let open = [...new Set(changes)].toSorted((a, b) => a - b);
  for (let wait = FIRST_WAIT_MS; open.length > 0; wait = Math.min(wait * 1.5, LONGEST_WAIT_MS)) {
    const asked = open.slice(0, AT_ONCE);
    const tasks = await tasksOf(server, asked);
    for (const change of asked) {
      const outcome = outcomeOf(tasks.get(change));
      if (outcome) settled.set(change, outcome);
    }
    open = open.filter((change) => !settled.has(change));
    if (asked.some((change) => !settled.has(change))) await sleep(wait);
  }
  return settled;
};

const tasksOf = async (server: Server, changes: Change[]): Promise<Map<Change, Task>> => {
  const { results } = await server.ask<{ results: Task[] }>({
    method: "GET",
    path: `/tasks?uids=${changes.join(",")}&limit=${changes.length}`,
    timeoutMs: 10_000,
  });
  return new Map(results.map((task) => [task.uid, task]));
};

const outcomeOf = (task: Task | undefined): Settled | undefined => {
  if (!task) return { ok: false, error: "The search server does not know this change any more." };
  if (task.status === "enqueued" || task.status === "processing") return undefined;
  if (task.status === "succeeded" && task.finishedAt)
    return { ok: true, finished_at: new Date(task.finishedAt).toISOString() };
  return { ok: false, error: task.error ? `${task.error.code}: ${task.error.message}` : `It was ${task.status}.` };
};
