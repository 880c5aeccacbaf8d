import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { MIB } from "./attacks/attack.ts";
import { openStage } from "./stage.ts";

/* 60 runs of one organization whose results take 14 MB each. Its share of the memory for runs is 128 MB. */

const RUNS = 60;
const RESULTS = 14;
const RESULT_LENGTH = 1_000_000;
const SHARE_BYTES = 128_000_000;
const PAGE = 100;

const SOURCE = `export const steps = { write: async ({ n }) => String(n).repeat(${RESULT_LENGTH}).slice(0, ${RESULT_LENGTH}) };
export async function run(ctx) {
  let length = 0;
  for (let n = 0; n < ${RESULTS}; n++) length += (await ctx.runStep("write", { n })).length;
  await ctx.sleep("3s");
  return ctx.complete(length);
}`;

test("runs that together hold more than their organization's share complete in turns, and others notice nothing", async () => {
  const { deployment, attacker, bystander } = await openStage();
  const definition = await attacker.create("/api/definitions", { type: "workflow", name: "large", source: SOURCE });
  const envelope = { limits: { max_result_bytes: 1024 ** 2 } };
  const workflow = await attacker.create("/api/workflows", { definition_id: definition.id, envelope });
  const listOf = async (status: string): Promise<any[]> =>
    (await attacker.owner("GET", `/api/workflows/runs?status=${status}&limit=${PAGE}`)).body.data;
  let [largest, waiting] = [0, 0];
  const noteMemory = async (): Promise<void> => {
    const text = await (await fetch(`${deployment.url}/metrics`)).text();
    const read = (name: string): number => Number(new RegExp(`^${name} (\\d+)`, "m").exec(text)![1]);
    largest = Math.max(largest, read("run_memory_bytes"));
    waiting = Math.max(waiting, read("run_memory_waiting"));
  };
  const experience = await bystander.watch(async () => {
    const starts = Array.from({ length: RUNS }, () =>
      attacker.owner("POST", `/api/workflows/${workflow.id}/runs`, { args: {} }),
    );
    expect((await Promise.all(starts)).map(({ status }) => status)).toEqual(starts.map(() => 202));
    while ((await listOf("completed")).length < RUNS && (await listOf("failed")).length === 0) {
      await noteMemory();
      await sleep(500);
    }
  });
  console.log({ ...experience, largest, waiting });
  expect((await listOf("failed")).map(({ error }) => error)).toEqual([]);
  const lengths: number[] = [];
  // one after the other: the long answers of an organization have a limit
  for (const { id } of await listOf("completed"))
    lengths.push((await attacker.owner("GET", `/api/workflows/runs/${id}`)).body.result);
  expect(lengths).toEqual(Array.from({ length: RUNS }, () => RESULTS * RESULT_LENGTH));
  expect(deployment.ended()).toEqual([]);
  expect(experience.failures).toEqual([]);
  // without shares: 2.0 GB
  expect(experience.memory).toBeLessThan(1_400 * MIB);
  expect(experience.run_ms).toBeLessThan(5_000);
  expect(waiting).toBeGreaterThan(0);
  expect(largest).toBeGreaterThan(SHARE_BYTES / 2);
  // the bystander's runs are small, so they count nothing
  expect(largest).toBeLessThanOrEqual(SHARE_BYTES);
}, 390_000);
