import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const harness = fileURLToPath(new URL("../../dev/crash/run.ts", import.meta.url));

test.each([
  ["of processes with one role each", 4154, []],
  ["of two processes with every role", 4154, ["--together"]],
  // this seed fills the disk of PostgreSQL, and then cuts the power of every disk
  ["whose disks are full and without power", 286, ["--faults", "disk,slow,readonly,power"]],
])("a short run of the crash harness %s finds nothing", async (_, seed, more) => {
  const args = [harness, "--kills", "4", "--seed", String(seed), "--clients", "4", ...more];
  const { PATH = "", HOME = "" } = process.env;
  const { stdout } = await promisify(execFile)(process.execPath, args, { env: { PATH, HOME } });
  expect(stdout).toMatch(/^kills 4 writes [1-9]\d* lost 0 doubled 0 stuck 0 different 0$/m);
});
