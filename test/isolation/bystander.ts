import { setTimeout as sleep } from "node:timers/promises";
import type { Credentials } from "../../cli/organization.ts";
import type { IsolatedDeployment } from "./deployment.ts";

/** What another organization experienced during an attack. */
export interface Experience {
  turns: number;
  p50_ms: number;
  p99_ms: number;
  /** Statuses that were not 200; 0 where the connection broke. */
  failures: number[];
  /** The highest resident memory of the service, in bytes. */
  memory: number;
}

const PAUSE_MS = 20;
const MEMORY_EVERY_MS = 100;

/** Takes one turn after the other as another organization until `over` settles. */
export async function watch(
  deployment: IsolatedDeployment,
  { api_key }: Credentials,
  over: Promise<unknown>,
): Promise<Experience> {
  let isOver = false;
  const ended = () => (isOver = true);
  over.then(ended, ended);
  const times: number[] = [];
  const failures: number[] = [];
  let memory = 0;
  const measureMemory = async () => {
    while (!isOver) {
      memory = Math.max(memory, await deployment.memory());
      await sleep(MEMORY_EVERY_MS);
    }
  };
  const measuring = measureMemory();
  do {
    const start = performance.now();
    const status = await takeTurn(deployment.url, api_key);
    times.push(performance.now() - start);
    if (status !== 200) failures.push(status);
    await sleep(PAUSE_MS);
  } while (!isOver);
  await measuring;
  times.sort((a, b) => a - b);
  const at = (share: number) => Math.round(times[Math.min(times.length - 1, Math.floor(times.length * share))]!);
  return { turns: times.length, p50_ms: at(0.5), p99_ms: at(0.99), failures, memory };
}

async function takeTurn(url: string, api_key: string): Promise<number> {
  const response = await fetch(`${url}/api/openai/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${api_key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "offline/echo", messages: [{ role: "user", content: "still here" }] }),
  }).catch(() => undefined);
  await response?.arrayBuffer().catch(() => undefined);
  return response?.status ?? 0;
}
