import { expect, test } from "vitest";
import { WAITING, openTenant } from "../workflows/tenant.ts";
import { startPlatform, testDeployment } from "../platform.ts";

test("a rotation gets no answer while the old secret works, and the next one returns a secret once the read models have caught up", async () => {
  const deployment = await testDeployment();
  const projections = await startPlatform({ roles: ["projections"], deployment });
  const platform = await startPlatform({ roles: ["http", "services"], deployment });
  const home = await openTenant(platform.url, await platform.organization());
  const workflow = await home.register(WAITING);
  const hook = await home.hook(workflow);
  const old = await home.newKey();
  const statusOf = async ({ call }: Pick<typeof old, "call">) => (await call("GET", "/openai/v1/models")).status;
  expect(await statusOf(old)).toBe(200);
  await projections.stop();

  const paths = [`/workflows/${workflow.id}/triggers/${hook.id}`, `/keys/${old.id}`];
  const rotate = () => Promise.all(paths.map((path) => home.owner("POST", `${path}/rotate`)));
  const refused = await rotate();
  expect(refused.map(({ status, body }) => [status, body.error.code])).toEqual([
    [503, "unavailable"],
    [503, "unavailable"],
  ]);

  await startPlatform({ roles: ["projections"], deployment });
  await expect.poll(() => statusOf(old)).toBe(401);
  const [trigger, rotated] = await rotate();
  expect([trigger!.status, rotated!.status]).toEqual([200, 200]);
  await expect(home.call(hook)).rejects.toThrow();
  expect(await home.call({ ...hook, secret: trigger!.body.secret })).toMatchObject({ status: "pending" });
  expect(await statusOf({ call: home.clientAt(rotated!.body.key) })).toBe(200);
});
