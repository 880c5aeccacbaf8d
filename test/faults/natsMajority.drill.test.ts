import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, expect, test } from "vitest";
import { testFolder } from "#test/harness.ts";
import { startNatsCluster } from "#test/natsCluster.ts";
import { startPlatform, testDeployment } from "#test/platform.ts";

/** After this time the remaining server no longer leads any stream, and answers at once that there is no leader. */
const SETTLED_MS = 12_000;

const cluster = await startNatsCluster(await testFolder());
afterAll(() => cluster?.stop());

test("a bus without a majority of its servers is reported as down within seconds, and as up when they are back", {
  timeout: 60_000,
}, async () => {
  const alone = await testDeployment();
  const deployment = { ...alone, addresses: { ...alone.addresses, nats_url: cluster.nodes[2]!.url } };
  const env = { NATS_URL: cluster.url, NATS_REPLICAS: "3" };
  const { url } = await startPlatform({ roles: ["http"], deployment, env });
  const nats = async () => {
    const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(5_000) });
    return [response.status, ((await response.json()) as any).checks.nats.ok];
  };
  const up = async () => /dependency_up\{name="nats"\} (\d)/.exec(await (await fetch(`${url}/metrics`)).text())![1];
  await expect.poll(nats).toContain(true);
  const gone = cluster.nodes.slice(0, 2);
  await Promise.all(gone.map((node) => node.kill()));
  await sleep(SETTLED_MS);
  expect([await nats(), await up()]).toEqual([[503, false], "0"]);
  await Promise.all(gone.map((node) => node.start()));
  await expect.poll(nats).toContain(true);
  expect(await up()).toBe("1");
});
