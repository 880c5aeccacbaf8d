import { expect, test } from "vitest";
import { clientOf } from "../http/service.ts";
import { letRefuse } from "../log/refusing.ts";
import { startPlatform, testDeployment, type Platform } from "../platform.ts";
import { askTurn } from "./load.ts";

/** A process that is out of the load balancer gets no requests: it has to find out by itself. */
const BACK_MS = 15_000;
const FULL = "The disk of the database is full.";

async function readyz({ url }: Platform): Promise<{ status: number; failing: Record<string, unknown> }> {
  const response = await fetch(`${url}/readyz`);
  const { checks } = (await response.json()) as { checks: Record<string, { ok: boolean; detail: unknown }> };
  const failing = Object.entries(checks).flatMap(([name, { ok, detail }]) => (ok ? [] : [[name, detail]]));
  return { status: response.status, failing: Object.fromEntries(failing) };
}

async function expectTruth(http: Platform, failing: Record<string, string>): Promise<void> {
  const { api_key } = await http.organization();
  const call = clientOf({ chat: `${http.url}/api/openai/v1` }, api_key);
  expect(await askTurn(call)).toMatchObject({ status: 200 });
  expect(await readyz(http)).toEqual({ status: 200, failing: {} });

  const { takeAgain } = await letRefuse(http.resources.pool, "53100");
  expect(await askTurn(call)).toMatchObject({ status: 503 });
  await expect.poll(() => readyz(http), { timeout: 5_000 }).toEqual({ status: 503, failing });

  await takeAgain();
  await expect.poll(() => readyz(http), { timeout: BACK_MS }).toEqual({ status: 200, failing: {} });
  expect(await askTurn(call)).toMatchObject({ status: 200 });
}

test("a process with every role is not ready while PostgreSQL refuses appends, and becomes ready again without any request", async () => {
  const platform = await startPlatform();
  await expectTruth(platform, { log: `The log takes no appends: ${FULL}`, commands: FULL });
});

test("an http process learns from the services processes that PostgreSQL refuses appends", async () => {
  const deployment = await testDeployment();
  await startPlatform({ roles: ["services", "projections"], deployment });
  await expectTruth(await startPlatform({ roles: ["http"], deployment }), { commands: FULL });
});
