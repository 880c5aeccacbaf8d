import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { testFolder } from "#test/harness.ts";
import { acquireLock } from "./lock.ts";

test("a lock is held until its release, and nothing prevents the stop of its holder, not even a folder that is gone", async () => {
  const folder = await testFolder();
  mkdirSync(join(folder, "run"));
  const lock = await acquireLock(folder, () => {});
  await expect(acquireLock(folder, () => {})).rejects.toThrow(`Already running as process ${process.pid} on ${folder}`);
  rmSync(join(folder, "run"), { recursive: true });
  lock.markStopping();
  lock.release();
});
