import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import type { Credentials } from "../../cli/organization.ts";
import { afterFile } from "../cleanUp.ts";
import type { BystanderData, BystanderReport } from "./bystanderThread.ts";
import type { IsolatedDeployment } from "./deployment.ts";

/** What another organization experienced during an attack. */
export interface Experience {
  turns: number;
  p50_ms: number;
  p99_ms: number;
  slowest_ms: number;
  /** Statuses that were not 200; 0 where the connection broke. */
  failures: number[];
  /** The highest resident memory of the service, in bytes. */
  memory: number;
}

export type Bystander = ReturnType<typeof startBystander>;

const MEMORY_EVERY_MS = 100;

/** Takes one turn after the other as another organization, until the test file ends. */
export function startBystander(deployment: IsolatedDeployment, { api_key }: Credentials) {
  const workerData: BystanderData = { url: deployment.url, api_key };
  const thread = new Worker(new URL("bystanderThread.ts", import.meta.url), { workerData });
  afterFile(() => thread.terminate());

  async function report(): Promise<BystanderReport> {
    const answer = once(thread, "message") as Promise<[BystanderReport]>;
    thread.postMessage("report");
    return (await answer)[0];
  }

  return {
    /** Its experience until `over` settles. */
    async watch(over: Promise<unknown>): Promise<Experience> {
      await report();
      let isOver = false;
      const end = () => (isOver = true);
      over.then(end, end);
      let memory = 0;
      while (!isOver) {
        memory = Math.max(memory, await deployment.memory());
        await sleep(MEMORY_EVERY_MS);
      }
      const { times, failures } = await report();
      times.sort((a, b) => a - b);
      const at = (share: number) => Math.round(times[Math.min(times.length - 1, Math.floor(times.length * share))]!);
      return { turns: times.length, p50_ms: at(0.5), p99_ms: at(0.99), slowest_ms: at(1), failures, memory };
    },
  };
}
