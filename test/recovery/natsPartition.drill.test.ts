import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, expect, test } from "vitest";
import { expectSound, startLoad } from "../faults/load.ts";
import { startProcess } from "../faults/processes.ts";
import { testFolder } from "../harness.ts";
import { startNatsCluster } from "../natsCluster.ts";
import { pathAt } from "../natsRoutes.ts";
import { startPlatform, testDeployment } from "../platform.ts";

/** The other servers elect leaders, and the processes move to them; the rest is for a machine with other work. */
const BACK_MS = 90_000;

const cluster = await startNatsCluster(await testFolder(), { proxied: true });
afterAll(() => cluster?.stop());

/** One server of the cluster is cut off from the others. */
const cutOff = (n: number) =>
  cluster.routes!.routesOf(n).forEach((route) => route.proxy.setAll(pathAt(route, "dropped")));

const rejoin = (n: number) =>
  cluster.routes!.routesOf(n).forEach(({ proxy }) => {
    proxy.setFresh("open");
    proxy.reset();
  });

const readiness = async (urls: string[]): Promise<number[]> =>
  Promise.all(urls.map(async (url) => (await fetch(`${url}/readyz`)).status));

test("processes leave a NATS server that is cut off from the others, and no data is lost", {
  timeout: 300_000,
}, async () => {
  const alone = await testDeployment();
  const deployment = { ...alone, addresses: { ...alone.addresses, nats_url: cluster.url } };
  const env = { NATS_URL: cluster.url, NATS_REPLICAS: "3" };
  const observer = await startPlatform({ roles: ["projections"], deployment, env });
  const processes = await Promise.all(
    (["services", "services", "http", "http"] as const).map((role) => startProcess(role, deployment, env)),
  );
  const urls = processes.filter(({ role }) => role === "http").map(({ url }) => url);
  const { api_key } = await observer.organization();
  const load = startLoad(urls, api_key, 4);
  await load.more(30);
  for (const n of [0, 1, 2]) {
    cutOff(n);
    const began = performance.now();
    await sleep(5_000);
    await expect.poll(() => readiness(urls), { timeout: BACK_MS }).toEqual([200, 200]);
    const ready = performance.now();
    await load.more(60);
    const seconds = (ms: number) => (ms / 1_000).toFixed(1);
    console.log(
      `server ${n} cut off: ready after ${seconds(ready - began)} s, 60 turns in ${seconds(performance.now() - ready)} s`,
    );
    rejoin(n);
    await load.more(20);
  }
  await expectSound(observer.resources, await load.stop());
  expect(await (await fetch(`${urls[0]}/metrics`)).text()).toMatch(
    /healed_faults_total\{fault="bus_server_cut_off"\} [1-9]/,
  );
});
