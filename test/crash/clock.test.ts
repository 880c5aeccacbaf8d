import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { testFolder } from "../harness.ts";

const preload = new URL("../../dev/crash/preload/clock.ts", import.meta.url).href;
const HOUR_MS = 3_600_000;

test("a process of the harness uses the clock in its file, and jumps when the file changes", async () => {
  const file = join(await testFolder(), "clock");
  writeFileSync(file, String(HOUR_MS));
  const program = `
    const { writeFileSync } = await import("node:fs");
    const { setTimeout: sleep } = await import("node:timers/promises");
    const seen = [Date.now(), +new Date(), new Date() instanceof Date, new Date(5).getTime()];
    writeFileSync(process.env.CRASH_CLOCK, "0");
    while (Date.now() - seen[0] > 0) await sleep(10);
    process.stdout.write(JSON.stringify(seen));
  `;
  const args = ["--import", preload, "--input-type=module", "-e", program];
  const began = Date.now();
  const { stdout } = spawnSync(process.execPath, args, { env: { CRASH_CLOCK: file }, encoding: "utf8" });
  const [now, made, isDate, given] = JSON.parse(stdout);
  expect(now - began).toBeGreaterThan(HOUR_MS - 1_000);
  expect(now - began).toBeLessThan(2 * HOUR_MS);
  expect(Math.abs(made - now)).toBeLessThan(60_000);
  expect([isDate, given]).toEqual([true, 5]);
});

test("a process that cannot read its clock's file, for example without a free file handle, keeps its last clock", async () => {
  const file = join(await testFolder(), "clock");
  writeFileSync(file, String(HOUR_MS));
  const program = `
    const { rmSync } = await import("node:fs");
    const { setTimeout: sleep } = await import("node:timers/promises");
    rmSync(process.env.CRASH_CLOCK);
    await sleep(300);
    process.stdout.write(String(Date.now()));
  `;
  const args = ["--import", preload, "--input-type=module", "-e", program];
  const { stdout, status } = spawnSync(process.execPath, args, { env: { CRASH_CLOCK: file }, encoding: "utf8" });
  expect(status).toBe(0);
  expect(Number(stdout) - Date.now()).toBeGreaterThan(HOUR_MS / 2);
});
