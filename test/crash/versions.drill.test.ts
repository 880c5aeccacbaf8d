import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const harness = fileURLToPath(new URL("../../dev/crash/run.ts", import.meta.url));

/** Three of the six faults replace a role by the next version; at the end all roles go back, in the opposite order. */
test("an upgrade to the next version and a rollback under load lose nothing", async () => {
  const args = [harness, "--beside", "next", "--kills", "6", "--seed", "4154", "--clients", "4"];
  const { PATH = "", HOME = "" } = process.env;
  const { stdout } = await promisify(execFile)(process.execPath, args, { env: { PATH, HOME } });
  for (const role of ["services", "projections", "http"]) expect(stdout).toContain(`| version ${role} other | 1 |`);
  expect(stdout).toMatch(/^kills 6 writes [1-9]\d* lost 0 doubled 0 stuck 0 different 0$/m);
});
