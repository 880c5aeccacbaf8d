import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const harness = fileURLToPath(new URL("../../dev/crash/run.ts", import.meta.url));

test.each([
  ["of processes with one role each", []],
  ["of two processes with every role", ["--together"]],
])("a short run of the crash harness %s finds nothing", async (_, more) => {
  const args = [harness, "--kills", "4", "--seed", "4154", "--clients", "4", ...more];
  const { PATH = "", HOME = "" } = process.env;
  const { stdout } = await promisify(execFile)(process.execPath, args, { env: { PATH, HOME } });
  expect(stdout).toMatch(/^kills 4 writes [1-9]\d* lost 0 doubled 0 stuck 0 different 0$/m);
});
