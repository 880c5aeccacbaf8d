import { setTimeout as sleep } from "node:timers/promises";
import { randomFrom } from "../random.ts";
import type { KnownWorkflow } from "./known.ts";
import type { Wire } from "./wire.ts";

/** Seconds between two due times. */
const EVERY_SECONDS = 5;
const RULES = ["skip", "queue"] as const;
/** Maximum time for pausing the schedules after the load. */
const PAUSE_MS = 60_000;

/** The schedules of a workflow, which start runs without requests. */
export interface KnownSchedules {
  /** Pauses them, so that the deployment can become quiet. */
  pause(): Promise<void>;
}

/** Creates one schedule per overlap rule. */
export async function makeSchedules(
  wire: Wire,
  token: string,
  { id: workflow }: KnownWorkflow,
): Promise<KnownSchedules> {
  const path = `/api/workflows/${workflow}/triggers`;
  const ids: string[] = [];
  for (const overlap of RULES) {
    const args = { id: `scheduled ${overlap}`, client: 0, steps: 1, ms: 20 };
    const body = { name: overlap, schedule: { every: EVERY_SECONDS }, overlap, missed: "all", args };
    const made = await wire.send("schedules", { method: "POST", path, token, body }, randomFrom("schedules", overlap));
    if (made.status !== 201) throw new Error(`POST ${path}: ${made.text}`);
    ids.push(made.body.id);
  }
  const pauseOne = async (id: string): Promise<boolean> => {
    const wanted = { method: "PATCH", path: `${path}/${id}`, token, body: { paused: true } };
    return (await wire.send("schedules", wanted, randomFrom("pause", id))).status === 200;
  };
  return {
    async pause() {
      const until = Date.now() + PAUSE_MS;
      for (const id of ids)
        while (!(await pauseOne(id))) {
          if (Date.now() > until) throw new Error(`The schedule ${id} cannot be paused.`);
          await sleep(500);
        }
    },
  };
}
