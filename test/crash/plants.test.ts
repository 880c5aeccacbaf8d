import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { checkPlant, plantInto } from "../../dev/crash/plants/plant.ts";
import { findPlant, PLANTS } from "../../dev/crash/plants/plants.ts";
import { tryPlants } from "../../dev/crash/plants/tryPlants.ts";
import { testFolder } from "../harness.ts";
import { doubled, lost } from "../../dev/crash/check/finding.ts";

const preload = new URL("../../dev/crash/preload/plant.ts", import.meta.url).href;
const plant = findPlant("dedupe-skipped");

/** The ids of two requests under the same key, in a process of its own. */
function identifyTwice(env: Record<string, string>): string[] {
  const program = `
    const { identifyParts } = await import("./http/base/idempotency.ts");
    const parts = { organization_id: "o", principal: "p", path: "/x", key: "k", body: "b" };
    process.stdout.write([1, 2].map(() => identifyParts(parts).id).join());
  `;
  const args = ["--import", preload, "--input-type=module", "-e", program];
  return spawnSync(process.execPath, args, { env, encoding: "utf8" }).stdout.split(",");
}

test.each(PLANTS)("the line that the planted bug $name changes still exists", (one) => {
  expect(() => checkPlant(one)).not.toThrow();
});

test("a process of the harness runs with the named bug planted, and without a bug if none is named", () => {
  const [first, second] = identifyTwice({ CRASH_PLANT: plant.name });
  expect(first).not.toBe(second);
  const [one, again] = identifyTwice({});
  expect(one).toBe(again);
});

test("the bug is planted even if compiled code is cached", async () => {
  const env = { CRASH_PLANT: plant.name, NODE_COMPILE_CACHE: await testFolder() };
  for (const _ of ["fills the cache", "reads it"]) {
    const [first, second] = identifyTwice(env);
    expect(first).not.toBe(second);
  }
});

test("a bug whose line is missing or ambiguous is not planted", () => {
  expect(() => plantInto("other code", plant)).toThrow("finds its line 0 times in http/base/idempotency.ts");
  expect(() => plantInto(plant.text + plant.text, plant)).toThrow("2 times");
  expect(() => findPlant("weeds")).toThrow("--plant weeds: choose from append-dropped");
});

test("a planted bug is caught by a finding of its own rule within 40 kills", async () => {
  const options = { kills: 40, seed: 1, clients: 1, keep: false, cluster: false, together: false, faults: [] };
  const kills: number[] = [];
  const other = lost("I1", "file.upload 1", "FileUploaded is not in the log");
  const own = doubled("I3", "chat 1", "two turns under one key");
  const find = (rule: typeof own) => async (run: { kills: number }) => {
    kills.push(run.kills);
    return kills.length === 3 ? [other, rule] : [other];
  };
  expect(await tryPlants([plant], options, find(own))).toBe(true);
  expect(kills).toEqual([8, 12, 20]);
  kills.length = 0;
  expect(await tryPlants([plant], options, find(other))).toBe(false);
  expect(kills).toEqual([8, 12, 20]);
});
