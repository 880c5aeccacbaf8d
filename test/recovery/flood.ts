import { once } from "node:events";
import { Worker } from "node:worker_threads";

export interface Flood {
  url: string;
  api_key: string;
  perSecond: number;
  seconds: number;
}

/** `broken`: what became of the connection, where there was no answer. */
export interface FloodAnswer {
  status: number | undefined;
  retry_after: string | undefined;
  seconds: number;
  broken?: string;
}

/**
 * Sends so many turns a second, whether or not there are answers; resolves when the last one is on its way. A thread of its own sends them: the
 * measuring thread would be late, and `fetch` looks through all its connections for each request.
 */
export async function flood(plan: Flood): Promise<{ answers: Promise<FloodAnswer[]> }> {
  const worker = new Worker(new URL("floodThread.ts", import.meta.url), { workerData: plan });
  await once(worker, "message");
  return { answers: once(worker, "message").then(([answers]) => answers as FloodAnswer[]) };
}
