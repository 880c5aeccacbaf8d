import { expect, test } from "vitest";
import { clientOf } from "../http/service.ts";
import { startPlatform, testDeployment } from "../platform.ts";

test("while the read models lag, a new member and a new session wait or get a 503, never a 401", async () => {
  const deployment = await testDeployment();
  const platform = await startPlatform({ deployment, roles: ["services", "http"] });
  const projections = await startPlatform({ deployment, roles: ["projections"] });
  const api = `${platform.url}/api`;
  const { admin } = await platform.organization();
  const anonymous = clientOf({ chat: api }, "");
  const { token } = (await anonymous("POST", "/auth/login", admin)).body;
  const owner = clientOf({ chat: api }, token);
  // the first request waits until the session is in its read model
  expect((await owner("GET", "/auth/me")).status).toBe(200);
  await projections.stop();

  // a sign-in waits for no read model, but the requests of its session do
  const late = await anonymous("POST", "/auth/login", admin);
  expect(late.status).toBe(200);
  const refused = await clientOf({ chat: api }, late.body.token)("GET", "/auth/me");
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, expect.any(String)]);

  const email = "grace@lag.example";
  const created = await owner("POST", "/members", { email, name: "Grace", role: "viewer" });
  expect(created.status).toBe(201);
  const { password } = created.body;
  const early = await anonymous("POST", "/auth/login", { email, password });
  expect([early.status, early.headers.get("retry-after")]).toEqual([503, expect.any(String)]);

  await startPlatform({ deployment, roles: ["projections"] });
  expect((await anonymous("POST", "/auth/login", { email, password })).status).toBe(200);
  expect((await clientOf({ chat: api }, late.body.token)("GET", "/auth/me")).status).toBe(200);
});
