import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const harness = fileURLToPath(new URL("../../dev/crash/run.ts", import.meta.url));

test("nothing is lost or different while the next version replaces this one under load, and this one that one again", async () => {
  const args = [harness, "--beside", "next", "--kills", "12", "--seed", "4155", "--clients", "4"];
  const { PATH = "", HOME = "" } = process.env;
  const { stdout } = await promisify(execFile)(process.execPath, args, { env: { PATH, HOME } });
  expect(stdout).toMatch(/^\| version services other /m);
  expect(stdout).toMatch(/^\| version services this /m);
  expect(stdout).toMatch(/^kills 12 writes [1-9]\d* lost 0 doubled 0 stuck 0 different 0$/m);
});
