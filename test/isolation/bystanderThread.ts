import { setTimeout as sleep } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";

/*
 * The other organization's client, in a thread of its own: the attacker's client sends hundreds of requests and reads megabytes of answers, and would
 * hold up the clock of a client in its thread. It takes one turn after the other for the whole drill, so no row contains the start of a client.
 */

const PAUSE_MS = 20;
const { url, api_key } = workerData as BystanderData;

export interface BystanderData {
  url: string;
  api_key: string;
}
/** The turns that ended since the report before. */
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

const emptyReport = (): BystanderReport => ({ times: [], failures: [] });
let report = emptyReport();
let isAsked = false;
parentPort!.on("message", () => (isAsked = true));

for (;;) {
  const start = performance.now();
  const status = await takeTurn();
  report.times.push(performance.now() - start);
  if (status !== 200) report.failures.push(status);
  if (isAsked) {
    // a turn that is under way when the report is asked for belongs to it
    isAsked = false;
    parentPort!.postMessage(report);
    report = emptyReport();
  }
  await sleep(PAUSE_MS);
}
