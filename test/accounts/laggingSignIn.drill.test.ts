import { expect, test } from "vitest";
import { clientOf } from "../http/service.ts";
import { startPlatform, testDeployment } from "../platform.ts";

test("a new member whose sign-in precedes the read models waits or gets a 503, never a 401", async () => {
  const deployment = await testDeployment();
  const platform = await startPlatform({ deployment, roles: ["services", "http"] });
  const projections = await startPlatform({ deployment, roles: ["projections"] });
  const api = `${platform.url}/api`;
  const { admin } = await platform.organization();
  const anonymous = clientOf({ chat: api }, "");
  const { token } = (await anonymous("POST", "/auth/login", admin)).body;
  await projections.stop();

  const email = "grace@lag.example";
  const created = await clientOf({ chat: api }, token)("POST", "/members", { email, name: "Grace", role: "viewer" });
  expect(created.status).toBe(201);
  const { password } = created.body;
  const early = await anonymous("POST", "/auth/login", { email, password });
  expect([early.status, early.headers.get("retry-after")]).toEqual([503, expect.any(String)]);

  await startPlatform({ deployment, roles: ["projections"] });
  expect((await anonymous("POST", "/auth/login", { email, password })).status).toBe(200);
});
