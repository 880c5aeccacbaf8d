import { globSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, expect, test } from "vitest";
import { startEmbeddedServers } from "#infra/embedded/index.ts";
import { clientOf, say } from "../http/service.ts";
import { testDataFolder } from "../harness.ts";
import { openReader } from "../knowledge/library.ts";
import { startPlatform } from "../platform.ts";
import { expectSound, startLoad } from "./load.ts";

/* Services that die under load, and lose all they had. PostgreSQL loses nothing; the others may lose everything. */

const folder = await testDataFolder();
const services = await startEmbeddedServers({ DATA_DIR: folder }, () => {});
const addresses = { ...services, master_key: Buffer.alloc(32, 3).toString("base64") };
const deployment = { addresses, prefix: "loss", folder };
const worker = await startPlatform({ roles: ["services", "projections"], deployment });
const face = await startPlatform({ roles: ["http"], deployment });
const key = (await face.organization()).api_key;

// A hook that is registered within another is not run: the servers would outlive the tests.
afterAll(async () => {
  for (const platform of [face, worker]) await platform?.stop();
  await services?.stop();
});

const pidOf = (name: string) =>
  (JSON.parse(readFileSync(join(folder, "run", `${name}.pid`), "utf8")) as { pid: number }).pid;

/** Ends a service without a word, and all that it had kept where `lost` names it; its supervisor starts it again. */
async function kill(name: string, lost?: string) {
  const pid = pidOf(name);
  process.kill(pid, "SIGKILL");
  if (lost) rmSync(join(folder, lost), { recursive: true, force: true });
  await expect.poll(() => pidOf(name)).not.toBe(pid);
}

const tear = (file: string) => truncateSync(file, 2);
const damage = (file: string) => {
  const bytes = readFileSync(file);
  writeFileSync(file, bytes.fill(0xa5, 0, 65_536));
};

const load = () => startLoad([face.url], key);
const ready = async () => (await fetch(`${face.url}/readyz`)).status;

test.each([
  ["NATS dies and loses its whole folder", "nats", "nats"],
  ["PostgreSQL dies", "postgres", undefined],
])("%s: no acknowledged data is lost or doubled, and the service recovers by itself", async (_, service, lost) => {
  const running = load();
  for (let time = 0; time < 2; time++) {
    await running.more(50);
    await kill(service, lost);
    await running.more(50);
  }
  const asked = await running.stop();
  expect(asked.filter(({ failed }) => failed)).toEqual([]);
  await expectSound(worker.resources, asked);
  expect(await ready()).toBe(200);
});

test("a running command that meets the loss of all NATS data is completed or unknown, and stays so", async () => {
  const call = clientOf({ chat: `${face.url}/api/openai/v1` }, key);
  const slow = Array.from({ length: 6 }, (_, n) => ({
    body: say(`/slow 1\n/say slow ${n}`, { model: "offline/scripted", stream: n % 2 === 1 }),
    headers: { "idempotency-key": `slow-${n}` },
  }));
  const ask = () => Promise.all(slow.map(({ body, headers }) => call("POST", "/chat/completions", body, headers)));
  const first = ask();
  await sleep(500);
  await kill("nats", "nats");
  for (const { status } of await first) expect([200, 503]).toContain(status);
  const again = await ask();
  expect(again.map(({ status }) => status)).toEqual(slow.map(() => 200));
  for (const [n, { text }] of again.entries()) for (const word of ["slow", String(n)]) expect(text).toContain(word);
  const count =
    "select count(*)::integer as n from log.commands c join log.events e on e.command_id = c.command_id where e.type = 'TurnStarted'";
  const before = await worker.resources.db.query(count, []);
  expect((await ask()).map(({ status }) => status)).toEqual(slow.map(() => 200));
  expect(await worker.resources.db.query(count, [])).toEqual(before);
});

test("chat works while Meilisearch has lost its whole folder, and the service becomes ready again", async () => {
  const running = load();
  await running.more(20);
  await kill("meilisearch", "meili");
  await running.more(50);
  await expect.poll(ready).toBe(200);
  const asked = await running.stop();
  expect(asked.filter(({ statuses, failed }) => failed || statuses.length > 1)).toEqual([]);
});

test.each([
  ["whose version is torn", "VERSION", tear],
  ["whose tasks are damaged", "tasks/data.mdb", damage],
  ["whose index is torn", "indexes/*/data.mdb", tear],
  ["whose index is damaged", "indexes/*/data.mdb", damage],
])("Meilisearch %s starts without its data, and search finds everything again", async (harm, files, spoil) => {
  const reader = openReader(face.url, key);
  const shelf = await reader.collect(harm);
  await reader.ended((await reader.push(shelf, { text: "A walrus sleeps on the ice." })).body.id);
  const before = pidOf("meilisearch");
  process.kill(before, "SIGKILL");
  for (const file of globSync(join(folder, "meili/data", files))) spoil(file);
  const search = async () => (await reader.call("POST", "/search", { query: "walrus", collections: [shelf] })).body;
  await expect.poll(() => pidOf("meilisearch")).not.toBe(before);
  await expect.poll(search, { timeout: 60_000 }).toMatchObject({ results: [{ document: { collection: harm } }] });
  await expect.poll(ready).toBe(200);
});
