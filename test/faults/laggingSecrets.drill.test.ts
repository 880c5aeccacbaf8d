import { expect, test } from "vitest";
import { WAITING, openTenant } from "../workflows/tenant.ts";
import { startPlatform, testDeployment } from "../platform.ts";

test("a rotation is answered with its secret although the read models lag, and the secret works later", async () => {
  const deployment = await testDeployment();
  const projections = await startPlatform({ roles: ["projections"], deployment });
  const platform = await startPlatform({ roles: ["http", "services"], deployment });
  const home = await openTenant(platform.url, await platform.organization());
  const workflow = await home.register(WAITING);
  const hook = await home.hook(workflow);
  const { id: key } = await home.newKey();
  await home.made(home.owner("GET", "/keys"));
  await projections.stop();

  const rotate = (path: string) => home.owner("POST", `${path}/rotate`, undefined, { "idempotency-key": "lag" });
  const trigger = await rotate(`/workflows/${workflow.id}/triggers/${hook.id}`);
  const rotated = await rotate(`/keys/${key}`);
  expect([trigger.status, trigger.body]).toEqual([
    200,
    {
      ...(trigger.body as object),
      id: hook.id,
      secret: expect.stringMatching(/^whsec-/),
      secret_hint: trigger.body.secret?.slice(-4),
      rotated_at: expect.stringMatching(/Z$/),
    },
  ]);
  expect([rotated.status, rotated.body]).toMatchObject([
    200,
    { id: key, key: expect.stringMatching(/^sk-/), key_hint: rotated.body.key?.slice(-4) },
  ]);

  await startPlatform({ roles: ["projections"], deployment });
  await home.made(home.owner("GET", "/keys"));
  expect(await home.call({ ...hook, secret: trigger.body.secret })).toMatchObject({ status: "pending" });
  expect((await home.clientAt(rotated.body.key)("GET", "/openai/v1/models")).status).toBe(200);
  const { key: _, last_used_at, ...shown } = rotated.body;
  expect(last_used_at).toBeNull();
  expect((await home.owner("GET", `/keys/${key}`)).body).toMatchObject(shown);
  const { secret: __, ...one } = trigger.body;
  const [listed] = (await home.owner("GET", `/workflows/${workflow.id}/triggers`)).body.data;
  expect(listed).toEqual({ ...one, runs: 1, last_used_at: expect.any(String) });
});
