import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startEmbeddedServers } from "#infra/embedded/index.ts";
import { clientOf } from "../http/service.ts";
import { testDataFolder } from "../harness.ts";
import { startPlatform } from "../platform.ts";
import { askTurn } from "./load.ts";

/* NATS runs, but never answers again: nats-server 2.9 does so after its disk was full. Here it is stopped. */

let folder: string;
let services: Awaited<ReturnType<typeof startEmbeddedServers>>;
let platform: Awaited<ReturnType<typeof startPlatform>>;
const lines: string[] = [];

beforeAll(async () => {
  folder = await testDataFolder();
  services = await startEmbeddedServers({ DATA_DIR: folder }, (line) => void lines.push(line));
  const addresses = { ...services, master_key: Buffer.alloc(32, 3).toString("base64") };
  platform = await startPlatform({ deployment: { addresses, prefix: "hangs", folder } });
});
afterAll(async () => {
  await platform?.stop();
  await services?.stop();
});

test("a supervisor restarts a NATS server that hangs for good, and one process answers turns all the time", async () => {
  const { pid } = JSON.parse(readFileSync(join(folder, "run", "nats.pid"), "utf8")) as { pid: number };
  const call = clientOf({ chat: `${platform.url}/api/openai/v1` }, (await platform.organization()).api_key);
  const began = performance.now();
  const seconds = () => ((performance.now() - began) / 1_000).toFixed(1);
  process.kill(pid, "SIGSTOP");
  await expect.poll(async () => (await fetch(`${platform.url}/readyz`)).status).toBe(503);
  console.log(`/readyz says 503 after ${seconds()} s`);
  // a process with all roles handles its own commands (docs/adr/0038-a-process-handles-its-own-commands.md)
  const isEnded = () => lines.join("\n").includes(`nats (process ${pid}) does not answer, ending it`);
  for (let ended = false; !ended; await sleep(100)) {
    ended = isEnded();
    expect(await askTurn(call)).toMatchObject({ status: 200 });
  }
  await expect.poll(async () => (await fetch(`${platform.url}/readyz`)).status).toBe(200);
  console.log(`/readyz says 200 after ${seconds()} s`);
});
