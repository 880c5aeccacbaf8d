import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import type { Credentials } from "../../cli/organization.ts";
import { afterFile } from "../cleanUp.ts";
import { openAttacker } from "./attacker.ts";
import type { BystanderData } from "./bystanderThread.ts";
import type { IsolatedDeployment } from "./deployment.ts";
import type { Row } from "./requestRows.ts";

/** What another organization experienced during an attack. */
export interface Experience {
  turns: number;
  p50_ms: number;
  p99_ms: number;
  slowest_ms: number;
  /** The slowest search, upload and run of a workflow; undefined without one. */
  search_ms: number | undefined;
  upload_ms: number | undefined;
  run_ms: number | undefined;
  /** What was not answered as it should be, with its status; 0 where the connection broke. */
  failures: string[];
  /** The highest resident memory of a process of the service, in bytes. */
  memory: number;
}

export type Bystander = Awaited<ReturnType<typeof startBystander>>;

const MEMORY_EVERY_MS = 100;

const WORKFLOW = `export const steps = { add: async ({ n }) => n + 1 };
export async function run(ctx, { n }) { return ctx.complete(await ctx.runStep("add", { n })); }`;

/** What its clients ask for. */
async function prepare(deployment: IsolatedDeployment, credentials: Credentials): Promise<BystanderData> {
  const owner = await openAttacker(deployment, credentials);
  const { slug: collection, upload } = await owner.collection("Bees");
  const { body } = await upload("Honey bees dance.", "bees.txt");
  await owner.whenRead(body.id);
  const definition = await owner.create("/api/definitions", { type: "workflow", name: "plus_one", source: WORKFLOW });
  const { id: workflow } = await owner.create("/api/workflows", { definition_id: definition.id });
  return { url: deployment.url, api_key: credentials.api_key, collection, workflow };
}

/** Works as another organization until the test file ends. */
export async function startBystander(deployment: IsolatedDeployment, credentials: Credentials) {
  const workerData = await prepare(deployment, credentials);
  const thread = new Worker(new URL("bystanderThread.ts", import.meta.url), { workerData });
  afterFile(() => thread.terminate());

  /** The requests since the last call, each with its whole time. */
  async function endRow(): Promise<Row> {
    const answer = once(thread, "message") as Promise<[Row]>;
    thread.postMessage("end");
    return (await answer)[0];
  }

  return {
    /** Its experience until what `begin` starts has settled. That starts once the requests of the row before have ended. */
    async watch(begin: () => Promise<unknown>): Promise<Experience> {
      await endRow();
      let isOver = false;
      const end = () => (isOver = true);
      begin().then(end, end);
      let memory = 0;
      while (!isOver) {
        memory = Math.max(memory, await deployment.memory());
        await sleep(MEMORY_EVERY_MS);
      }
      const { times, failures } = await endRow();
      const turns = times.turn.toSorted((a, b) => a - b);
      const at = (share: number) => Math.round(turns[Math.min(turns.length - 1, Math.floor(turns.length * share))]!);
      const slowest = (all: number[]) => (all.length === 0 ? undefined : Math.round(Math.max(...all)));
      return {
        turns: turns.length,
        p50_ms: at(0.5),
        p99_ms: at(0.99),
        slowest_ms: at(1),
        search_ms: slowest(times.search),
        upload_ms: slowest(times.upload),
        run_ms: slowest(times.run),
        failures,
        memory,
      };
    },
  };
}
