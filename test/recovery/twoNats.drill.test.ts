import { expect, test } from "vitest";
import { startOwnServer } from "../bus/server.ts";
import { expectSound, startLoad } from "../faults/load.ts";
import { startProcess } from "../faults/processes.ts";
import { clientOf, say } from "../http/service.ts";
import { startPlatform, testDeployment } from "../platform.ts";

/** `/readyz` must report it within this time; processes compare every 2 s, and check a difference once more. */
const REPORTED_MS = 10_000;
/** A process that was killed counts as gone after 15 s. */
const TAKEN_OVER_MS = 30_000;

const readyz = async (url: string) => {
  const answer = await fetch(`${url}/readyz`);
  return { status: answer.status, body: await answer.text() };
};

test("processes on another NATS report it and take no work, no data is lost, and they take over once the others are gone", async () => {
  const deployment = await testDeployment();
  const other = await startOwnServer();
  const elsewhere = { ...deployment, addresses: { ...deployment.addresses, nats_url: other.url } };
  const observer = await startPlatform({ roles: ["projections"], deployment });
  const [services, http] = await Promise.all([startProcess("services", deployment), startProcess("http", deployment)]);
  const { api_key } = await observer.organization();
  const load = startLoad([http.url], api_key, 3);
  await load.more(5);

  const [, stray] = await Promise.all([startProcess("services", elsewhere), startProcess("http", elsewhere)]);
  const strayLoad = startLoad([stray.url], api_key, 2);
  await expect.poll(async () => (await readyz(stray.url)).status, { timeout: REPORTED_MS }).toBe(503);
  expect((await readyz(stray.url)).body).toContain("uses another NATS than the other processes");
  const refused = await clientOf({ chat: `${stray.url}/api/openai/v1` }, api_key)(
    "POST",
    "/chat/completions",
    say("Hi"),
  );
  expect(refused.status).toBe(503);
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  await load.more(10);
  expect((await readyz(http.url)).status).toBe(200);
  expect(await (await fetch(`${http.url}/metrics`)).text()).toMatch(/healed_faults_total\{fault="bus_apart"\} [1-9]/);

  const requests = await load.stop();
  await observer.stop();
  services.kill();
  http.kill();
  const successor = await startPlatform({ roles: ["projections"], deployment: elsewhere });
  await expect.poll(async () => (await readyz(stray.url)).status, { timeout: TAKEN_OVER_MS }).toBe(200);
  await strayLoad.more(5);
  await expectSound(successor.resources, [...requests, ...(await strayLoad.stop())]);
});
