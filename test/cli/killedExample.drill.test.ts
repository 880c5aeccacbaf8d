import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { credentialsFile } from "../../cli/credentials.ts";
import { afterTest } from "../cleanUp.ts";
import { EXAMPLE, readExample } from "../console/example.ts";
import { testDataFolder } from "../harness.ts";
import { openTenant } from "../workflows/tenant.ts";

const main = fileURLToPath(new URL("../../main.ts", import.meta.url));

test("the next start completes an example whose creation was killed, and later starts add nothing", async () => {
  const folder = await testDataFolder();
  const { PATH = "", HOME = "" } = process.env;
  const env = { PATH, HOME, DATA_DIR: folder, PORT: "0", LOG_LEVEL: "silent" };
  const start = () => {
    const child = spawn(process.execPath, [main, "all"], { env, stdio: ["ignore", "pipe", "ignore"] });
    afterTest(() => void child.kill("SIGKILL"));
    return { child, ended: once(child, "exit") };
  };
  const file = credentialsFile({ DATA_DIR: folder });
  const marker = join(folder, "example.pending");

  const first = start();
  await expect.poll(() => existsSync(file), { interval: 5 }).toBe(true);
  first.child.kill("SIGKILL");
  await first.ended;
  expect(existsSync(marker)).toBe(true);

  for (let n = 0; n < 2; n++) {
    const { child, ended } = start();
    for await (const line of createInterface(child.stdout)) if (line.startsWith("Ctrl-C")) break;
    const credentials = JSON.parse(readFileSync(file, "utf8"));
    expect(await readExample(await openTenant(credentials.base_url, credentials))).toEqual(EXAMPLE);
    expect(existsSync(marker)).toBe(false);
    child.kill();
    await ended;
  }
});
