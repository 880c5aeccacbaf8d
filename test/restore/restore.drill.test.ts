import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, expect, test } from "vitest";
import { isPublished } from "#events/published.ts";
import { startServices } from "#infra/embedded/index.ts";
import { hashTables } from "#infra/postgres/tables.ts";
import { verifyLog } from "#infra/postgres/verify.ts";
import type { Opened } from "../../roles/open.ts";
import { told } from "../bus/streams.ts";
import { allEvents, expectSound, startLoad, tryOnce, type Asked } from "../faults/load.ts";
import { startProcess } from "../faults/processes.ts";
import { testDatabase, testDataFolder, testFolder } from "../harness.ts";
import { readerOf } from "../knowledge/library.ts";
import { startPlatform, testDeployment } from "../platform.ts";
import { openTenant, workflowOf } from "../workflows/workshop.ts";
import { copyBlobs, dump, restore } from "./backup.ts";

const WORKFLOW = workflowOf(
  `const { comment } = await ctx.awaitApproval("boss", { title: "Go on?" });
   return ctx.complete(comment);`,
);
const QUESTION = { query: "How many days may I work from home?" };

let services: Awaited<ReturnType<typeof startServices>> | undefined;
afterAll(() => services?.stop());

/** An event that was lost with the database is not the one that has its position now. */
const nameOf = ({ position, recorded_at }: { position: number; recorded_at: Date | string }): string =>
  `${position} ${new Date(recorded_at).toISOString()}`;

const toldIn = async (log: Opened["log"]) => (await allEvents(log)).filter(({ type }) => isPublished(type));

async function readModels({ pool }: Pick<Opened, "pool">) {
  const client = await pool.connect();
  return hashTables(client, "read").finally(() => client.release());
}

test("a backup of log, keys and blobs becomes the same service on empty servers", async () => {
  const deployment = await testDeployment();
  const before = await startPlatform({ deployment });
  const credentials = await before.organization();
  const { api_key } = credentials;
  const load = startLoad([before.url], api_key, 4);
  await load.more(30);
  const asked = await load.stop();
  const library = readerOf(before.url, api_key);
  const collection = await library.collect("Handbook");
  const content = readFileSync(new URL("../../examples/handbook.docx", import.meta.url));
  const document = await library.keep(collection, { content, name: "handbook.docx" });
  expect(document.status).toBe("ready");
  const tenant = await openTenant(before.url, credentials);
  const run = await tenant.start(await tenant.register(WORKFLOW), {});
  const [approval] = await tenant.pending(run);
  const found = (await library.search(QUESTION)).body;
  expect(found.results.length).toBeGreaterThan(0);
  await expectSound(before.opened, asked);

  const backup = await dump(deployment.addresses.database_url);
  const folder = await testDataFolder();
  await copyBlobs(deployment.folder, folder);
  const tip = await verifyLog(before.opened.db, () => {});
  await before.stop();

  services = await startServices({ DATA_DIR: folder }, () => {});
  await restore(services.database_url, backup);
  const { master_key } = deployment.addresses;
  const after = await startPlatform({
    deployment: { addresses: { ...services, master_key }, prefix: "restored", folder },
  });
  expect(await verifyLog(after.opened.db, () => {})).toEqual(tip);
  expect(await readModels(after.opened)).toEqual(backup.hashes);
  await expectSound(after.opened, asked);
  const again = readerOf(after.url, api_key);
  await expect.poll(async () => (await again.search(QUESTION)).body, { timeout: 20_000 }).toEqual(found);
  const restored = await openTenant(after.url, credentials);
  expect((await restored.decide(approval, { decision: "approve", comment: "as before" })).status).toBe(200);
  expect((await restored.over(run)).result).toBe("as before");
}, 90_000);

test("a database of a minute ago beside the bus of now: each request has one effect, and the feed tells it", async () => {
  const deployment = await testDeployment();
  const looker = await startPlatform({ roles: [], deployment });
  const [, worker, face] = await Promise.all([
    startProcess("projections", deployment),
    startProcess("services", deployment),
    startProcess("http", deployment),
  ]);
  const { api_key } = await looker.organization();
  const asked: Asked[] = Array.from({ length: 60 }, (_, n) => ({
    words: randomUUID(),
    stream: n % 2 === 0,
    slow: n % 8 < 2,
    statuses: [],
    failed: false,
  }));
  const ask = (url: string, some: Asked[]) => Promise.all(some.map((one) => tryOnce(url, api_key, one)));
  const all = (some: Asked[]) => some.map(() => 200);

  expect(await ask(face.url, asked.slice(0, 20))).toEqual(all(asked.slice(0, 20)));
  const backup = await dump(deployment.addresses.database_url);
  expect(await ask(face.url, asked.slice(20, 40))).toEqual(all(asked.slice(20, 40)));
  const bus = { url: deployment.addresses.nats_url, prefix: deployment.prefix };
  const head = (await toldIn(looker.opened.log)).length;
  await expect.poll(async () => (await told(bus)).length).toBe(head);
  worker.kill();
  // these reach the queue, and nobody handles them
  const cut = ask(face.url, asked.slice(40));
  const queued = async () => Object.values((await looker.opened.bus.health()).streams)[0]!.messages;
  await expect.poll(queued).toBe(20);
  face.kill();
  await cut;
  await looker.stop();

  const { url: database_url } = await testDatabase();
  await restore(database_url, backup);
  const folder = await testFolder();
  await copyBlobs(deployment.folder, folder);
  const addresses = { ...deployment.addresses, database_url };
  const after = await startPlatform({ deployment: { ...deployment, addresses, folder } });
  for (let left = asked; left.length > 0; await sleep(100)) {
    const statuses = await ask(after.url, left);
    left = left.filter((_, n) => statuses[n] !== 200);
  }
  await expectSound(after.opened, asked);
  const started = await after.opened.db.query("select from log.events where type = 'TurnStarted'", []);
  expect(started).toHaveLength(asked.length);
  const heard = async () => (await told(bus)).map(nameOf);
  await expect.poll(heard).toEqual(expect.arrayContaining((await toldIn(after.opened.log)).map(nameOf)));
}, 90_000);
