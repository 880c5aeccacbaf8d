import { expect, test } from "vitest";
import { clientOf, say } from "../http/service.ts";
import { startPlatform, testDeployment } from "../platform.ts";

test("read models that lag behind the log do not make the service unready, and /readyz shows the lag", async () => {
  const deployment = await testDeployment();
  const projecting = await startPlatform({ roles: ["projections"], deployment });
  const service = await startPlatform({ roles: ["http", "services"], deployment });
  const { api_key } = await service.organization();
  await projecting.stop();
  const call = clientOf({ chat: `${service.url}/api/openai/v1` }, api_key);
  for (const word of ["one", "two"]) expect((await call("POST", "/chat/completions", say(word))).status).toBe(200);
  const answered = await fetch(`${service.url}/readyz`);
  const { checks } = (await answered.json()) as { checks: Record<string, { ok: boolean; detail: { lag: number } }> };
  expect(answered.status).toBe(200);
  expect(checks["projection turns"]).toMatchObject({ ok: true, detail: { lag: expect.any(Number) } });
  expect(checks["projection turns"]!.detail.lag).toBeGreaterThan(0);
});
