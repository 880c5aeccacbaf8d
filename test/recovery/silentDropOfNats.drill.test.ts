import { expect, test } from "vitest";
import { clientOf } from "../http/service.ts";
import { startFaultProxy, throughProxy } from "../faultProxy.ts";
import { startPlatform, testDeployment, type Deployment } from "../platform.ts";
import { load, printFigures } from "./load.ts";

/* One process reaches NATS through a network that loses the packets of its connection without a word. */

async function startBehindProxy(
  deployment: Deployment,
  roles: NonNullable<Parameters<typeof startPlatform>[0]>["roles"],
) {
  const { hostname, port } = new URL(deployment.addresses.nats_url);
  const proxy = await startFaultProxy({ host: hostname, port: Number(port) });
  const nats_url = throughProxy(deployment.addresses.nats_url, proxy.port);
  const addresses = { ...deployment.addresses, nats_url };
  return { proxy, platform: await startPlatform({ roles: roles!, deployment: { ...deployment, addresses } }) };
}

test("turns continue if the NATS connection of one of two services processes is silently dropped", async () => {
  const deployment = await testDeployment();
  const { proxy } = await startBehindProxy(deployment, ["services"]);
  await startPlatform({ roles: ["services"], deployment });
  const http = await startPlatform({ roles: ["http", "projections"], deployment });
  const call = clientOf({ chat: `${http.url}/api/openai/v1` }, (await http.organization()).api_key);
  await load(call, 1);
  proxy.setCurrent("dropped");
  const answers = await load(call, 8);
  printFigures("services", answers);
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
});

test("turns continue within seconds if the NATS connection of an http process is silently dropped", async () => {
  const deployment = await testDeployment();
  await startPlatform({ roles: ["services", "projections"], deployment });
  const { proxy, platform } = await startBehindProxy(deployment, ["http"]);
  const call = clientOf({ chat: `${platform.url}/api/openai/v1` }, (await platform.organization()).api_key);
  await load(call, 1);
  proxy.setCurrent("dropped");
  const answers = await load(call, 6);
  printFigures("http", answers);
  // The drop is noticed after two to three seconds. A slow machine refuses some of the turns that were sent into it.
  const refused = answers.filter(({ status }) => status !== 200);
  for (const { status, retry_after } of refused)
    expect([status, Number(retry_after)]).toEqual([503, expect.toSatisfy((seconds: number) => seconds > 0)]);
  expect(answers.slice(15).map(({ status }) => status)).toEqual(answers.slice(15).map(() => 200));
  expect((await fetch(`${platform.url}/readyz`)).status).toBe(200);
});
