import { cpSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startEmbeddedServers } from "#infra/embedded/index.ts";
import { clientOf, say } from "../http/service.ts";
import { testDataFolder } from "../harness.ts";
import { startPlatform } from "../platform.ts";

/* NATS loses power: its streams come back as they were minutes ago, its consumers as they are. */

let folder: string;
let services: Awaited<ReturnType<typeof startEmbeddedServers>>;
/** Apart from `platform`, whose commands therefore travel over the bus (docs/adr/0038-a-process-handles-its-own-commands.md). */
let workers: Awaited<ReturnType<typeof startPlatform>>;
let platform: Awaited<ReturnType<typeof startPlatform>>;

beforeAll(async () => {
  folder = await testDataFolder();
  services = await startEmbeddedServers({ DATA_DIR: folder }, () => {});
  const addresses = { ...services, master_key: Buffer.alloc(32, 3).toString("base64") };
  const deployment = { addresses, prefix: "power", folder };
  workers = await startPlatform({ roles: ["services", "projections"], deployment });
  platform = await startPlatform({ roles: ["http"], deployment });
});
// the platforms first: they would wait for servers that are gone
afterAll(async () => {
  await platform?.stop();
  await workers?.stop();
  await services?.stop();
});

const STREAMS = ["POWER_COMMANDS", "POWER_REACTIONS", "POWER_EVENTS", "POWER_DEAD"];
const folderOf = (stream: string) => join(folder, "nats", "jetstream", "$G", "streams", stream, "msgs");
const copyOf = (stream: string) => join(folder, `copy-${stream}`);
const pidOf = () => (JSON.parse(readFileSync(join(folder, "run", "nats.pid"), "utf8")) as { pid: number }).pid;

/** Puts the copies back before the supervisor starts the server again. */
function cutPower() {
  process.kill(pidOf(), "SIGKILL");
  for (const stream of STREAMS) {
    renameSync(folderOf(stream), `${copyOf(stream)}-lost`);
    renameSync(copyOf(stream), folderOf(stream));
  }
}

test("after a power cut of NATS, turns work again without intervention, and /readyz reports ready", async () => {
  const { api_key } = await platform.organization();
  const call = clientOf({ chat: `${platform.url}/api/openai/v1` }, api_key);
  const ask = async (n: number) => (await call("POST", "/chat/completions", say(`/say ${n}`, {}))).status;
  expect(await ask(0)).toBe(200);
  for (const stream of STREAMS) {
    rmSync(copyOf(stream), { recursive: true, force: true });
    cpSync(folderOf(stream), copyOf(stream), { recursive: true });
  }
  for (let n = 0; n < 100; n += 20)
    expect(new Set(await Promise.all(Array.from({ length: 20 }, (_, m) => ask(n + m))))).toEqual(new Set([200]));
  // the server writes the state of its consumers once a second
  await sleep(1_500);
  const began = performance.now();
  cutPower();
  while ((await ask(1)) !== 200) await sleep(100);
  const answered_ms = performance.now() - began;
  const ready = async () => (await fetch(`${platform.url}/readyz`)).status;
  await expect.poll(ready).toBe(200);
  console.log(
    `first answer ${Math.round(answered_ms)} ms after the cut, ready ${Math.round(performance.now() - began)} ms`,
  );
  expect(new Set(await Promise.all(Array.from({ length: 20 }, (_, n) => ask(n))))).toEqual(new Set([200]));
});
