import { execFile } from "node:child_process";
import { copyFileSync, mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { testFolder } from "../harness.ts";

const LAUNCHER = fileURLToPath(new URL("../../svc.mjs", import.meta.url));

test("an installation that a restart of the machine interrupted is not waited for, even if another process has its number", async () => {
  const folder = await testFolder();
  copyFileSync(LAUNCHER, join(folder, "svc.mjs"));
  writeFileSync(join(folder, "package.json"), "{}");
  writeFileSync(join(folder, "main.ts"), 'console.log("started");');
  const lock = join(folder, ".runtime", "installing");
  mkdirSync(join(lock, String(process.pid)), { recursive: true });
  utimesSync(lock, 1, 1);
  const { stdout } = await promisify(execFile)(process.execPath, [join(folder, "svc.mjs"), "doctor"], {
    timeout: 60_000,
  });
  expect(stdout).toBe("started\n");
});
