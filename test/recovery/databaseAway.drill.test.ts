import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { clientOf, say } from "../http/service.ts";
import { startFaultProxy, throughProxy } from "../faultProxy.ts";
import { startPlatform, testDeployment } from "../platform.ts";
import { askTurn } from "./load.ts";

/* No process reaches PostgreSQL. Clients must not hang: they get a 503 with Retry-After, and later an answer again. */

const deployment = await testDeployment();
const { hostname, port } = new URL(deployment.addresses.database_url);
const proxy = await startFaultProxy({ host: hostname, port: Number(port) });
const database_url = throughProxy(deployment.addresses.database_url, proxy.port);
const platform = await startPlatform({
  deployment: { ...deployment, addresses: { ...deployment.addresses, database_url } },
});
const call = clientOf({ chat: `${platform.url}/api/openai/v1` }, (await platform.organization()).api_key);
expect((await call("POST", "/chat/completions", say("Hello"))).status).toBe(200);

test.each([
  ["loses every packet", () => proxy.setAll("dropped"), () => (proxy.setFresh("open"), undefined)],
  ["refuses connections", () => (proxy.setFresh("refused"), proxy.reset()), () => proxy.setFresh("open")],
])(
  "while the network to PostgreSQL %s, requests are refused cleanly, and answered again afterwards",
  async (_, cut, heal) => {
    cut();
    const asked: ReturnType<typeof askTurn>[] = [];
    for (let n = 0; n < 30; n++) {
      asked.push(askTurn(call));
      await sleep(300);
    }
    const answers = await Promise.all(asked);
    const slowest = Math.max(...answers.map(({ seconds }) => seconds));
    expect(new Set(answers.map(({ status, retry_after }) => [status, Number(retry_after) > 0].join()))).toEqual(
      new Set(["503,true"]),
    );
    // the breaker is open: the last ones do not wait at all, and a busy machine delays some
    expect(Math.min(...answers.slice(-10).map(({ seconds }) => seconds))).toBeLessThan(1);
    expect((await fetch(`${platform.url}/readyz`)).status).toBe(503);
    const healed = performance.now();
    heal();
    while ((await askTurn(call)).status !== 200) await sleep(50);
    console.log(
      `slowest refusal ${slowest.toFixed(1)} s, first answer ${((performance.now() - healed) / 1_000).toFixed(1)} s after`,
    );
  },
);
