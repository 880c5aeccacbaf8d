import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, expect, test } from "vitest";
import type { Manifest } from "../../cli/backup/format.ts";
import { isPublished } from "#events/published.ts";
import { startEmbeddedServers } from "#infra/embedded/index.ts";
import { hashReadModels } from "../tables.ts";
import { verifyLog } from "#infra/postgres/verify.ts";
import type { Resources } from "../../roles/resources.ts";
import { readFeed } from "../bus/streams.ts";
import { expectSound, startLoad, tryOnce, type LoadRequest } from "../faults/load.ts";
import { allEvents } from "../../dev/crash/check/events.ts";
import { startProcess } from "../faults/processes.ts";
import { testBus, testDataFolder, testDatabase, testFolder } from "../harness.ts";
import { openReader } from "../knowledge/library.ts";
import { startPlatform, testDeployment, type Deployment } from "../platform.ts";
import { openTenant, workflowSource } from "../workflows/harness.ts";
import { startRuns } from "../scale/load.ts";
import { svcOn } from "./svc.ts";
import { readFileHash, startUploads } from "./underLoad.ts";

const WORKFLOW = workflowSource(
  `const { comment } = await ctx.awaitApproval("boss", { title: "Go on?" });
   return ctx.complete(comment);`,
);
const QUESTION = { query: "How many days may I work from home?" };

let services: Awaited<ReturnType<typeof startEmbeddedServers>> | undefined;
afterAll(() => services?.stop());

/** With the time, because after the restore another event can have the position of a lost one. */
const nameEvent = ({ position, recorded_at }: { position: number; recorded_at: Date | string }): string =>
  `${position} ${new Date(recorded_at).toISOString()}`;

const readPublished = async (log: Resources["log"]) => (await allEvents(log)).filter(({ type }) => isPublished(type));

async function readModels({ pool }: Pick<Resources, "pool">) {
  const client = await pool.connect();
  return hashReadModels(client).finally(() => client.release());
}

/** Runs `svc backup` while the service goes on. */
const backUp = async (deployment: Deployment, out: string): Promise<Manifest> =>
  JSON.parse(await svcOn(deployment, "backup", "--out", out, "--json"));

/** An empty database, folder and bus beside those of a deployment. */
async function emptyPlace(deployment: Deployment): Promise<Deployment> {
  const { url: database_url } = await testDatabase();
  return {
    addresses: { ...deployment.addresses, database_url },
    prefix: testBus().prefix,
    folder: await testFolder(),
  };
}

test("a backup of log, keys and blobs restores the same service on empty servers", async () => {
  const deployment = await testDeployment();
  const before = await startPlatform({ deployment });
  const credentials = await before.organization();
  const { api_key } = credentials;
  const load = startLoad([before.url], api_key, 4);
  await load.more(30);
  const requests = await load.stop();
  const library = openReader(before.url, api_key);
  const collection = await library.collect("Handbook");
  const content = readFileSync(new URL("../../examples/handbook.docx", import.meta.url));
  const document = await library.keep(collection, { content, name: "handbook.docx" });
  expect(document.status).toBe("ready");
  const tenant = await openTenant(before.url, credentials);
  const run = await tenant.start(await tenant.register(WORKFLOW), {});
  const [approval] = await tenant.pending(run);
  const found = (await library.search(QUESTION)).body;
  expect(found.results.length).toBeGreaterThan(0);
  await expectSound(before.resources, requests);

  const out = await testFolder();
  const { tip } = await backUp(deployment, out);
  const hashes = await readModels(before.resources);
  const folder = await testDataFolder();
  expect(await verifyLog(before.resources.db, () => {})).toEqual(tip);
  await before.stop();

  services = await startEmbeddedServers({ DATA_DIR: folder }, () => {});
  const { master_key } = deployment.addresses;
  const empty = { addresses: { ...services, master_key }, prefix: "restored", folder };
  await svcOn(empty, "restore", "--from", out);
  const after = await startPlatform({ deployment: empty });
  expect(await verifyLog(after.resources.db, () => {})).toEqual(tip);
  expect(await readModels(after.resources)).toEqual(hashes);
  await expectSound(after.resources, requests);
  const again = openReader(after.url, api_key);
  await expect.poll(async () => (await again.search(QUESTION)).body).toEqual(found);
  const restored = await openTenant(after.url, credentials);
  expect((await restored.decide(approval, { decision: "approve", comment: "as before" })).status).toBe(200);
  expect((await restored.untilOver(run)).result).toBe("as before");
});

test("each request has one effect, and the feed contains it, if an older database is restored beside the current bus", async () => {
  const deployment = await testDeployment();
  const observer = await startPlatform({ roles: [], deployment });
  const [, worker, face] = await Promise.all([
    startProcess("projections", deployment),
    startProcess("services", deployment),
    startProcess("http", deployment),
  ]);
  const { api_key } = await observer.organization();
  const requests: LoadRequest[] = Array.from({ length: 60 }, (_, n) => ({
    words: randomUUID(),
    stream: n % 2 === 0,
    slow: n % 8 < 2,
    statuses: [],
    failed: false,
  }));
  const sendAll = (url: string, some: LoadRequest[]) => Promise.all(some.map((one) => tryOnce(url, api_key, one)));
  const all = (some: LoadRequest[]) => some.map(() => 200);

  expect(await sendAll(face.url, requests.slice(0, 20))).toEqual(all(requests.slice(0, 20)));
  const out = await testFolder();
  await backUp(deployment, out);
  expect(await sendAll(face.url, requests.slice(20, 40))).toEqual(all(requests.slice(20, 40)));
  const bus = { url: deployment.addresses.nats_url, prefix: deployment.prefix };
  const head = (await readPublished(observer.resources.log)).length;
  await expect.poll(async () => (await readFeed(bus)).length).toBe(head);
  worker.kill();
  // these reach the queue, but no worker handles them
  const cut = sendAll(face.url, requests.slice(40));
  const queued = async () => Object.values((await observer.resources.bus.health()).streams)[0]!.messages;
  await expect.poll(queued).toBe(20);
  face.kill();
  await cut;
  await observer.stop();

  const older = { ...(await emptyPlace(deployment)), prefix: deployment.prefix };
  await svcOn(older, "restore", "--from", out);
  const after = await startPlatform({ deployment: older });
  for (let left = requests; left.length > 0; await sleep(100)) {
    const statuses = await sendAll(after.url, left);
    left = left.filter((_, n) => statuses[n] !== 200);
  }
  await expectSound(after.resources, requests);
  const started = await after.resources.db.query("select from log.events where type = 'TurnStarted'", []);
  expect(started).toHaveLength(requests.length);
  const readNames = async () => (await readFeed(bus)).map(nameEvent);
  await expect
    .poll(readNames)
    .toEqual(expect.arrayContaining((await readPublished(after.resources.log)).map(nameEvent)));
});

test("a backup under load contains everything that was acknowledged before it, and equals the log up to its position", async () => {
  const deployment = await testDeployment();
  const live = await startPlatform({ deployment });
  const credentials = await live.organization();
  const { api_key } = credentials;
  const tenant = await openTenant(live.url, credentials);
  const workflow = await tenant.register(workflowSource("return ctx.complete(args.n * 2);"));
  const turns = startLoad([live.url], api_key, 4);
  const runs = startRuns(live.url, api_key, workflow.id);
  const uploads = startUploads(live.url, api_key);
  await turns.more(30);
  const acknowledged = {
    turns: turns.answered(),
    runs: runs.started.slice(),
    files: uploads.uploaded.slice(),
  };
  const out = await testFolder();
  const { tip, blobs } = await backUp(deployment, out);
  await turns.more(10);
  await Promise.all([turns.stop(), runs.stop(), uploads.stop()]);
  expect(acknowledged.files.length).toBeGreaterThan(0);
  expect(blobs).toBeGreaterThanOrEqual(acknowledged.files.length);

  const empty = await emptyPlace(deployment);
  await svcOn(empty, "restore", "--from", out);
  expect(await svcOn(empty, "log", "verify", "--expect", `${tip.position}:${tip.hash}`)).toContain(
    `up to position ${tip.position}`,
  );
  const restored = await startPlatform({ deployment: empty });
  const [before, after] = await Promise.all([live, restored].map(({ resources }) => allEvents(resources.log)));
  const upTo = (events: typeof before) => events!.filter(({ position }) => position <= tip.position);
  expect(upTo(after)).toEqual(upTo(before));
  expect(before!.length).toBeGreaterThan(tip.position);

  await expectSound(restored.resources, acknowledged.turns);
  for (const { id, sha256 } of acknowledged.files) expect(await readFileHash(restored.url, api_key, id)).toBe(sha256);
  const there = await openTenant(restored.url, credentials);
  for (const { id, n } of acknowledged.runs)
    expect(await there.untilOver(id)).toMatchObject({ status: "completed", result: n * 2 });
  await expect(svcOn(empty, "restore", "--from", out)).rejects.toThrow("The database has events already");
});
