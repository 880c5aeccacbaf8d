import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const harness = fileURLToPath(new URL("../../dev/crash/run.ts", import.meta.url));

test("the crash harness finds and names a planted bug", async () => {
  const args = [harness, "--plant", "event-decided-twice", "--kills", "4", "--seed", "4154", "--clients", "6"];
  const { PATH = "", HOME = "" } = process.env;
  const { stdout } = await promisify(execFile)(process.execPath, args, { env: { PATH, HOME } });
  expect(stdout).toMatch(/^plant event-decided-twice: caught within \d+ kills: doubled \(I3/m);
});
