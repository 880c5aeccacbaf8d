import { afterAll, expect, test } from "vitest";
import { publishedTypes } from "#events/published.ts";
import { namesFor } from "#infra/nats/names.ts";
import { readFeed } from "../bus/streams.ts";
import { answerTo, expectSound } from "../faults/load.ts";
import { allEvents } from "../../dev/crash/check/events.ts";
import { startProcess } from "../faults/processes.ts";
import { testFolder } from "../harness.ts";
import { startNatsCluster, type NatsCluster } from "../natsCluster.ts";
import { startPlatform, testDeployment } from "../platform.ts";
import { openTenant, workflowSource } from "../workflows/harness.ts";
import { startBalancer } from "./balancer.ts";
import { activeFollowers, FOLLOWERS } from "./followers.ts";
import { startRuns, startTurns, type ClientTurn, type StartedRun } from "./load.ts";

const WORKFLOW = workflowSource(
  `const twice = await ctx.runStep("double", { n: args.n });
   await ctx.sleep(200);
   return ctx.complete(await ctx.runStep("double", { n: twice }));`,
  "double: async ({ n }) => n * 2",
);

let cluster: NatsCluster | undefined;
let balancer: Awaited<ReturnType<typeof startBalancer>> | undefined;
afterAll(async () => {
  await balancer?.close();
  await cluster?.stop();
});

/** The layout for several machines, on one machine. Killed processes are replaced, as by an orchestrator. */
async function startLayout() {
  cluster = await startNatsCluster(await testFolder());
  const alone = await testDeployment();
  const deployment = { ...alone, addresses: { ...alone.addresses, nats_url: cluster.url } };
  const env = { NATS_URL: cluster.url, NATS_REPLICAS: "3" };
  const observer = await startPlatform({ roles: [], deployment, env });
  const start = (role: "http" | "services" | "projections") => startProcess(role, deployment, env);
  const count = { http: 2, services: 3, projections: 2 };
  const processes = await Promise.all(
    (Object.keys(count) as (keyof typeof count)[]).flatMap((role) =>
      Array.from({ length: count[role] }, () => start(role)),
    ),
  );
  const httpUrls = () => processes.filter(({ role }) => role === "http").map(({ url }) => url);
  balancer = await startBalancer(httpUrls);
  return {
    cluster,
    observer,
    httpUrls,
    url: balancer.url,
    prefix: deployment.prefix,
    /** Kills the process and starts a replacement. */
    async kill(which: (one: (typeof processes)[number]) => boolean): Promise<void> {
      const [gone] = processes.splice(processes.findIndex(which), 1);
      gone!.kill();
      processes.push(await start(gone!.role));
    },
  };
}
type Layout = Awaited<ReturnType<typeof startLayout>>;

/** Every http process shows every thread as its client received it. */
async function expectThreads({ httpUrls }: Layout, api_key: string, asked: ClientTurn[]): Promise<void> {
  const headers = { authorization: `Bearer ${api_key}` };
  for (const [thread, turns] of Map.groupBy(asked, (turn) => turn.thread!)) {
    const wanted = turns.filter(({ failed }) => !failed).map(answerTo);
    for (const url of httpUrls()) {
      const response = await fetch(`${url}/api/openai/v1/threads/${thread}/messages?limit=100`, { headers });
      const { data } = (await response.json()) as { data: { role: string; status: string; content: string }[] };
      const said = data.filter(({ role, status }) => role === "assistant" && status === "completed");
      expect(said.map(({ content }) => content)).toEqual(wanted);
    }
  }
}

/** Every acknowledged run was created once and has completed, at every http process. */
async function expectRuns({ observer, httpUrls }: Layout, api_key: string, runs: StartedRun[]): Promise<void> {
  const created = await observer.resources.db.query("select stream from log.events where type = 'RunCreated'", []);
  expect(new Set(created.map(({ stream }: any) => stream))).toEqual(new Set(runs.map(({ id }) => `run-${id}`)));
  expect(created).toHaveLength(runs.length);
  const headers = { authorization: `Bearer ${api_key}` };
  for (const { n, id } of runs)
    for (const url of httpUrls()) {
      const run = async () => (await fetch(`${url}/api/workflows/runs/${id}`, { headers })).json() as Promise<any>;
      await expect.poll(async () => (await run()).status).toBe("completed");
      expect((await run()).result).toBe(n * 4);
    }
}

/** The feed contains every event once, in the order of the log. */
async function expectFeed({ cluster: { url }, observer, prefix }: Layout): Promise<void> {
  const types = new Set<string>(publishedTypes());
  const wanted = (await allEvents(observer.resources.log)).filter(({ type }) => types.has(type));
  const readPositions = async () => (await readFeed({ url, prefix })).map(({ position }) => position);
  await expect.poll(readPositions).toEqual(wanted.map(({ position }) => position));
}

test("nothing acknowledged is lost or duplicated when processes of every role and a NATS server die under load", async () => {
  const layout = await startLayout();
  const { observer, url } = layout;
  const { db } = observer.resources;
  const credentials = await observer.organization();
  const tenant = await openTenant(url, credentials);
  const workflow = await tenant.register(WORKFLOW);
  const pids = async (...names: (typeof FOLLOWERS)[number][]) => {
    const active = await activeFollowers(db);
    return names.map((name) => active[name]);
  };
  // each follower works in one process
  await expect.poll(() => pids(...FOLLOWERS)).toEqual(FOLLOWERS.map(() => [expect.any(Number)]));

  const turns = startTurns(url, credentials.api_key, 6);
  const runs = startRuns(url, credentials.api_key, workflow.id);
  await turns.more(40);

  const { streams } = namesFor(layout.prefix);
  const leader = await layout.cluster.leaderOf(streams.commands);
  await leader.kill();
  await turns.more(40);

  for (const name of ["projector", "feed"] as const) {
    const [[active]] = (await pids(name)) as [number[]];
    await layout.kill(({ pid }) => pid === active);
    await expect.poll(() => pids(name)).toEqual([[expect.any(Number)]]);
    expect(await pids(name)).not.toEqual([[active]]);
    await turns.more(20);
  }
  await layout.kill(({ role }) => role === "http");
  await leader.start();
  await turns.more(40);

  const started = await runs.stop();
  const asked = await turns.stop();
  expect(started.length).toBeGreaterThan(5);
  await expectRuns(layout, credentials.api_key, started);
  await expectSound(observer.resources, asked);
  await expectThreads(layout, credentials.api_key, asked);
  await expectFeed(layout);
  expect(await pids(...FOLLOWERS)).toEqual(FOLLOWERS.map(() => [expect.any(Number)]));
});
