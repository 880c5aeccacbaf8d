import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readLiveMemory, REPORTER } from "../../dev/bench/soak/liveMemory.ts";
import { judgeMemory } from "../../dev/bench/soak/memoryGrowth.ts";
import { startNode } from "../../dev/bench/tools/child.ts";

/** Nine samples, as the soak takes them. */
const judge = (resident: number[], live: number[]) =>
  judgeMemory(
    resident.map((mib, n) => ({ resident: { http: 100, services: mib }, live: { http: 50, services: live[n]! } })),
  );
const failed = (...given: Parameters<typeof judge>) =>
  judge(...given).flatMap(({ name, value, floor }) => (value > floor ? [name] : []));
const FLAT = Array.from({ length: 9 }, () => 100);

test("the soak fails only if used memory grows by a fifth or resident memory by two fifths", () => {
  expect(failed(FLAT, FLAT)).toEqual([]);
  const leak = [100, 110, 120, 130, 140, 150, 160, 170, 180];
  expect(failed(FLAT, leak)).toEqual(["growth_in_use"]);
  expect(failed([100, 100, 100, 100, 100, 100, 150, 150, 150], FLAT)).toEqual(["resident_growth"]);
  // a step of Node's, and work under way
  expect(failed([100, 100, 100, 100, 100, 100, 130, 130, 130], FLAT)).toEqual([]);
  expect(failed(FLAT, [100, 100, 100, 100, 100, 100, 150, 100, 150])).toEqual([]);
});

test("measured memory contains live objects but no garbage", async () => {
  const folder = await mkdtemp(join(tmpdir(), "soak-"));
  const start = async (body: string) => {
    const code = `const make = () => Array.from({ length: 300_000 }, (_, n) => ({ n })); ${body}; console.log("up"); setInterval(() => {}, 1e6);`;
    const child = startNode(["--import", REPORTER, "--eval", code], { DATA_DIR: folder });
    await child.firstLine();
    const mib = await readLiveMemory(child, folder);
    await child.stop();
    return mib;
  };
  const [kept, dropped] = [await start("globalThis.kept = make()"), await start("make()")];
  await rm(folder, { recursive: true });
  expect(kept - dropped).toBeGreaterThan(5);
});
