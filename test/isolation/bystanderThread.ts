import { setTimeout as sleep } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";

/*
 * The other organization's client, in a thread of its own: the attacker's client sends hundreds of requests and reads megabytes of answers, and would
 * hold up the clock of a client in its thread.
 */

const PAUSE_MS = 20;
const { url, api_key } = workerData as BystanderData;

export interface BystanderData {
  url: string;
  api_key: string;
}
export interface BystanderReport {
  times: number[];
  /** Statuses that were not 200; 0 where the connection broke. */
  failures: number[];
}

async function takeTurn(): Promise<number> {
  const response = await fetch(`${url}/api/openai/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${api_key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "offline/echo", messages: [{ role: "user", content: "still here" }] }),
  }).catch(() => undefined);
  await response?.arrayBuffer().catch(() => undefined);
  return response?.status ?? 0;
}

/** Takes one turn after the other until it has to stop, at least one. */
async function takeTurns(isOver: () => boolean): Promise<BystanderReport> {
  const report: BystanderReport = { times: [], failures: [] };
  do {
    const start = performance.now();
    const status = await takeTurn();
    report.times.push(performance.now() - start);
    if (status !== 200) report.failures.push(status);
    await sleep(PAUSE_MS);
  } while (!isOver());
  return report;
}

let isOver = false;
parentPort!.once("message", () => (isOver = true));
parentPort!.postMessage(await takeTurns(() => isOver));
