import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { startOwnServer } from "../bus/server.ts";
import { expectSound, startLoad } from "../faults/load.ts";
import { clientOf, say } from "../http/service.ts";
import { startPlatform, testDeployment } from "../platform.ts";

/* NATS starts again with another password, and later with the one that the processes have. */

const REFUSING_MS = 6_000;
const TOLD_MS = 5_000;
const BACK_MS = 15_000;

const usersWith = (password: string) => `authorization { users = [{ user: svc, password: ${password} }] }`;

test("while NATS refuses the password, requests are 503 and /readyz gives the reason; afterwards everything works by itself", async () => {
  const nats = await startOwnServer({ config: usersWith("first") });
  const shared = await testDeployment();
  const nats_url = nats.urlOf("svc", "first");
  const deployment = { ...shared, addresses: { ...shared.addresses, nats_url } };
  const services = await startPlatform({ roles: ["services", "projections"], deployment });
  const http = await startPlatform({ roles: ["http"], deployment });
  const { api_key } = await services.organization();
  const call = clientOf({ chat: `${http.url}/api/openai/v1` }, api_key);
  const ask = () => call("POST", "/chat/completions", say("Hello"));
  const load = startLoad([http.url], api_key, 2);
  await load.more(3);

  const restartWith = async (password: string) => {
    await nats.configure(usersWith(password));
    await nats.kill();
    await nats.start();
  };
  await restartWith("second");
  await expect
    .poll(async () => (await fetch(`${http.url}/readyz`)).text(), { timeout: TOLD_MS })
    .toContain("not connected");
  const refused = await ask();
  expect([refused.status, Number(refused.headers.get("retry-after")) > 0]).toEqual([503, true]);
  await sleep(REFUSING_MS);

  await restartWith("first");
  await expect.poll(async () => (await ask()).status, { timeout: BACK_MS }).toBe(200);
  await load.more(3);
  await expectSound(services.resources, await load.stop());
});
