import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, expect, test } from "vitest";
import type { Role } from "../../roles/runRoles.ts";
import { DIMENSIONS, startSearchEndpoints } from "../doubles/searchEndpoints.ts";
import { clientOf, fileForm, say, signIn } from "../http/service.ts";
import { openReader } from "../knowledge/library.ts";
import { openSourceSite } from "../knowledge/sourceSite.ts";
import { startPlatform, testDeployment, type Deployment, type Platform } from "../platform.ts";
import { openTenant, SOON, UNKNOWN, WAITING, workflowSource } from "../workflows/harness.ts";

/*
 * A disk that is almost full: real disks, and shares so high that they have less. The folder of PostgreSQL is on the disk of the
 * test; the database that the test uses has no address in the settings.
 */

type Tenant = Awaited<ReturnType<typeof openTenant>>;
let deployment: Deployment;
let working: Platform;
let before: Tenant;
let collections = 0;
let credentials: Awaited<ReturnType<Platform["organization"]>>;

beforeAll(async () => {
  deployment = await testDeployment();
  for (const store of ["blobs", "postgres"]) mkdirSync(join(deployment.folder, store), { recursive: true });
  working = await startPlatform({ deployment, env: { FREE_DISK_PERCENT: "0,0,0" } });
  credentials = await working.organization();
  before = await openTenant(working.url, credentials);
});

const OK = [200, undefined];
const FULL = [503, "storage_full"];
const document = `data:text/plain;base64,${Buffer.from("Words.").toString("base64")}`;
const withFile = () => ({
  model: "offline/echo",
  messages: [{ role: "user", content: [{ type: "file", file: { filename: "a.txt", file_data: document } }] }],
});

/** An `http` process of the deployment for which the disks are too full, and what its answers are. */
async function openFull(percent: string) {
  const { url } = await startPlatform({ roles: ["http"], deployment, env: { FREE_DISK_PERCENT: percent } });
  const call = clientOf({ chat: `${url}/api` }, credentials.api_key);
  const workflow = await before.register(workflowSource("return 1;"));
  const code = async (answer: ReturnType<typeof call>) => {
    const { status, body, headers } = await answer;
    if (status === 503) expect(headers.get("retry-after")).toBe("10");
    return [status, body?.error?.code];
  };
  const collection = (
    await before.made(before.owner("POST", "/v1/knowledge/collections", { name: `C${++collections}` }))
  ).slug;
  const texts = `/v1/knowledge/collections/${collection}/documents/text`;
  const form = () => fileForm("Words.", "a.txt", { fields: { purpose: "user_data" } });
  return {
    url,
    answers: async () => ({
      documents: await code(call("POST", texts, { name: "a.md", text: "Words." })),
      files: await code(call("POST", "/openai/v1/files", form())),
      attachments: await code(call("POST", "/openai/v1/chat/completions", withFile())),
      runs: await code(call("POST", `/workflows/${workflow.id}/runs`, { args: {} })),
      turns: await code(call("POST", "/openai/v1/chat/completions", say("Hello"))),
    }),
  };
}

async function readDisks(url: string) {
  const answer = await fetch(`${url}/readyz`);
  const { checks } = (await answer.json()) as { checks: Record<string, { ok: boolean; detail: object }> };
  return [answer.status, checks["disk"], checks["disk postgres"]];
}

const ALL = {
  documents: [202, undefined],
  files: [201, undefined],
  attachments: OK,
  runs: [202, undefined],
  turns: OK,
};

test("low disk space refuses the least important writes first, and /readyz and the metrics report it", async () => {
  const { answers } = await openFull("0,0,0");
  expect(await answers()).toEqual(ALL);
  const few = await openFull("100,0,0");
  expect(await few.answers()).toEqual({ ...ALL, documents: FULL, files: FULL });
  const some = await openFull("100,100,0");
  expect(await some.answers()).toEqual({ ...ALL, documents: FULL, files: FULL, attachments: FULL, runs: FULL });
  const all = await openFull("100,100,100");
  expect(await all.answers()).toEqual({ documents: FULL, files: FULL, attachments: FULL, runs: FULL, turns: FULL });

  const free = expect.closeTo((await freeShare(all.url)) ?? 0, 1);
  const [ofBlobs, ofAll] = [
    ["documents", "files", "attachments"],
    ["documents", "files", "attachments", "runs", "turns"],
  ];
  expect(await readDisks(all.url)).toEqual([
    200,
    { ok: true, detail: { free, refused: ofBlobs } },
    { ok: true, detail: { free, refused: ofAll } },
  ]);
  const metrics = await (await fetch(`${all.url}/metrics`)).text();
  expect(metrics).toContain('requests_refused_for_space_total{use="turns"} 2\n');
  expect(metrics).toContain('requests_refused_for_space_total{use="files"} 1\n');
  expect(metrics).toMatch(/disk_free_ratio\{name="disk postgres"\} 0\.\d/);
});

async function freeShare(url: string): Promise<number | undefined> {
  const metrics = await (await fetch(`${url}/metrics`)).text();
  return Number(/disk_free_ratio\{name="disk"\} ([\d.e-]+)/.exec(metrics)?.[1]);
}

test("decisions, cancellations, reads, deletions, erasures and sign-ins work while the disk is almost full", async () => {
  const workflow = await before.register(WAITING);
  const [decided, cancelled] = [await before.start(workflow), await before.start(workflow)];
  const [approval] = await before.pending(decided);
  const form = fileForm("Words.", "b.txt", { fields: { purpose: "user_data" } });
  const file = (await before.made(before.key("POST", "/openai/v1/files", form))).id;
  const { url } = await openFull("100,100,100");
  const full = await openTenant(url, credentials);

  expect((await full.read(decided)).status).toBe("running");
  expect((await full.decide(approval)).status).toBe(200);
  expect((await full.untilOver(decided)).status).toBe("completed");
  expect((await full.cancel(cancelled)).status).toBeLessThan(300);
  expect((await full.untilOver(cancelled)).status).toBe("cancelled");
  expect((await full.key("DELETE", `/openai/v1/files/${file}`)).status).toBe(200);
  const erasure = await full.owner("POST", "/erasures", { owner: `key:${UNKNOWN}` });
  expect(erasure.status, erasure.text).toBeLessThan(300);
});

test("a schedule reports that low space prevented a run, and starts the next run once there is space", async () => {
  const own = await testDeployment();
  for (const store of ["blobs", "postgres"]) mkdirSync(join(own.folder, store), { recursive: true });
  const env = { SCHEDULE_SECONDS: "1" };
  const full = await startPlatform({ deployment: own, env: { ...env, FREE_DISK_PERCENT: "100,100,0" } });
  const theirs = await full.organization();
  const tenant = await openTenant(full.url, theirs);
  const workflow = await tenant.register(workflowSource("return 1;"));
  const path = `/workflows/${workflow.id}/triggers`;
  const { id } = await tenant.made(tenant.owner("POST", path, { name: "T", schedule: { every: 1 }, args: {} }));
  const refusals = () =>
    full.resources.db.query<{ code: string }>(
      "select data::json ->> 'code' as code from log.events where stream = $1 and type = 'ScheduledRunRefused'",
      [`trigger-${id}`],
    );
  await expect.poll(async () => (await refusals()).map(({ code }) => code), SOON).toContain("storage_full");
  await full.stop();

  const roomy = await startPlatform({ deployment: own, env: { ...env, FREE_DISK_PERCENT: "0,0,0" } });
  const later = await openTenant(roomy.url, theirs);
  const runs = async () => (await later.owner("GET", `/workflows/runs?workflow_id=${workflow.id}`)).body.data.length;
  await expect.poll(runs, SOON).toBeGreaterThan(0);
});

test("vectors and pages of sources wait while there is no space, and are processed later", async () => {
  const [site, endpoints] = [await openSourceSite(), await startSearchEndpoints()];
  site.pages.set("/a.html", "The heron waits.");
  const own = await testDeployment();
  mkdirSync(join(own.folder, "blobs"), { recursive: true });
  const env = { PRIVATE_FETCH_HOSTS: site.host, PRIVATE_PROVIDER_HOSTS: "127.0.0.1", SOURCE_DELAY_MS: "0" };
  const start = (roles: readonly Role[], percent: string) =>
    startPlatform({ roles, deployment: own, env: { ...env, FREE_DISK_PERCENT: percent } });
  // the worker has no space, but the http process accepts new documents
  const answering = await start(["http", "projections"], "0,0,0");
  const full = await start(["services"], "100,0,0");
  const theirs = await answering.organization();
  const library = openReader(answering.url, theirs.api_key);
  const { token } = await signIn(answering.url, theirs.admin);
  const account = clientOf({ chat: answering.url }, token);
  const collection = await library.collect("Birds");
  const { id } = (await library.push(collection, { name: "a.md", text: "The crane sleeps." })).body;
  expect((await library.ended(id)).status).toBe("ready");
  const endpoint = { api_key: "sk-e", base_url: endpoints.url, model: "m", dimensions: DIMENSIONS };
  expect((await account("PUT", "/api/providers/embeddings", endpoint)).status).toBe(200);
  const source = (
    await library.call("POST", `/collections/${collection}/sources`, { kind: "url", url: site.url("/a.html") })
  ).body.id;
  const lastRead = (read: number) =>
    library.until(`/sources/${source}`, ({ last_read }) => last_read.read === read && last_read.status === "ended");
  const page = async () => (await library.call("GET", `/sources/${source}/pages`)).body.data[0];

  await lastRead(1);
  expect(await page()).toMatchObject({ result: "failed", error: expect.stringContaining("almost full") });
  expect(site.requests.map(({ path }) => path)).not.toContain("/a.html");
  // it looks for documents without vectors every second
  await sleep(3_000);
  expect(endpoints.embedded()).toEqual([]);
  expect((await account("GET", "/api/embeddings")).body).toMatchObject({ documents: 1, embedded: 0 });
  await full.stop();

  await start(["services"], "0,0,0");
  await library.call("POST", `/sources/${source}/read`);
  await lastRead(2);
  expect(await page()).toMatchObject({ result: "new" });
  await expect
    .poll(async () => (await account("GET", "/api/embeddings")).body, SOON)
    .toMatchObject({ documents: 2, embedded: 2 });
  await endpoints.close();
});
