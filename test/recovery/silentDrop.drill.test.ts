import { beforeAll, expect, test } from "vitest";
import { clientOf } from "../http/service.ts";
import { startFaultProxy, throughProxy } from "../faultProxy.ts";
import { startPlatform, testDeployment } from "../platform.ts";
import { load, printFigures } from "./load.ts";

/* Two services processes, of which one reaches PostgreSQL through a network that loses its packets without a word. */

type Proxy = Awaited<ReturnType<typeof startFaultProxy>>;

async function startBehindProxy(roles: Parameters<typeof startPlatform>[0]) {
  const deployment = roles!.deployment!;
  const { hostname, port } = new URL(deployment.addresses.database_url);
  const proxy = await startFaultProxy({ host: hostname, port: Number(port) });
  const database_url = throughProxy(deployment.addresses.database_url, proxy.port);
  const addresses = { ...deployment.addresses, database_url };
  return { proxy, platform: await startPlatform({ ...roles, deployment: { ...deployment, addresses } }) };
}

let proxy: Proxy;
let cutOff: Awaited<ReturnType<typeof startPlatform>>;
let http: Awaited<ReturnType<typeof startPlatform>>;
let call: ReturnType<typeof clientOf>;
beforeAll(async () => {
  const deployment = await testDeployment();
  ({ proxy, platform: cutOff } = await startBehindProxy({ roles: ["services"], deployment }));
  await startPlatform({ roles: ["services"], deployment });
  http = await startPlatform({ roles: ["http", "projections"], deployment });
  const { api_key } = await http.organization();
  call = clientOf({ chat: `${http.url}/api/openai/v1` }, api_key);
});

test("silently dropped connections to PostgreSQL are replaced, and every turn is answered", async () => {
  await load(call, 1);
  proxy.setCurrent("dropped");
  const answers = await load(call, 6);
  printFigures("dropped", answers);
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  const metrics = await (await fetch(`${http.url}/metrics`)).text();
  expect(metrics).toMatch(/healed_faults_total\{fault="connection_dropped"\} [1-9]/);
});

test("connections that lose only the answers are replaced, and every turn is answered once", async () => {
  proxy.setCurrent("deaf");
  const answers = await load(call, 6);
  printFigures("deaf", answers);
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
});

test("a services process that cannot reach PostgreSQL takes no work, and the other one answers every turn", async () => {
  proxy.setAll("dropped");
  const answers = await load(call, 8);
  printFigures("cut off", answers);
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  expect(cutOff.resources.reach.isReachable()).toBe(false);
  expect((await fetch(`${http.url}/readyz`)).status).toBe(200);
  proxy.setFresh("open");
  await expect.poll(() => cutOff.resources.reach.isReachable()).toBe(true);
  const after = await load(call, 2);
  printFigures("healed", after);
  expect(after.map(({ status }) => status)).toEqual(after.map(() => 200));
});
