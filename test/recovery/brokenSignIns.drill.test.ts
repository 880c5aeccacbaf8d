import pg from "pg";
import { expect, test } from "vitest";
import { afterTest } from "../cleanUp.ts";
import { clientOf } from "../http/service.ts";
import { startPlatform, testDeployment } from "../platform.ts";

async function startBroken() {
  const deployment = await testDeployment();
  const platform = await startPlatform({ deployment });
  const { admin } = await platform.organization();
  const other = new pg.Client({ connectionString: deployment.addresses.database_url });
  await other.connect();
  afterTest(() => other.end());
  const login = (password: string) =>
    clientOf({ chat: `${platform.url}/api` }, "none")("POST", "/auth/login", { email: admin.email, password });
  const age = (seconds: number) =>
    other.query("update ops.login_attempts set at = at - make_interval(secs => $1)", [seconds]);
  return { admin, other, login, age };
}

test("sign-ins that a fault interrupted lock nobody out, and wrong passwords still count", async () => {
  const { admin, other, login, age } = await startBroken();
  await other.query("begin; lock table read.users in access exclusive mode");
  const broken = await Promise.all(Array.from({ length: 9 }, () => login(admin.password)));
  expect(new Set(broken.map(({ status }) => status))).toEqual(new Set([503]));
  await other.query("rollback");

  expect((await login("wrong")).status).toBe(401);
  const refused = await login(admin.password);
  expect([refused.status, refused.body.error.code]).toEqual([429, "too_many_attempts"]);
  expect(Number(refused.headers.get("retry-after"))).toBeLessThanOrEqual(20);
  await age(20);
  for (let n = 0; n < 9; n++) expect((await login("wrong")).status).toBe(401);
  await age(20);
  expect((await login(admin.password)).status).toBe(429);
  await age(15 * 60);
  expect((await login(admin.password)).status).toBe(200);
});
