import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { expectRefused, openHostDesk, refusalOf, type HostDesk } from "./hostDesk.ts";

/* Secrets of a step: within the envelope, and no longer than its run goes on. */

const VALUE = "sk-live-canary-4711";
let desk: HostDesk;
let mine: Awaited<ReturnType<HostDesk["organization"]>>;
beforeAll(async () => {
  desk = await openHostDesk();
  mine = await desk.organization();
  await mine.secret("shop_key", VALUE);
  await mine.secret("other_key", "another value");
});
afterAll(() => desk.close());

test("a step is told a secret that the envelope names and that is set", async () => {
  const { attempt } = await mine.run({ secrets: ["shop_key", "unset"] });
  const { secret, resolved } = attempt();
  expect(await secret("shop_key")).toBe(VALUE);
  await expectRefused(secret("other_key"), "secret_not_allowed", "other_key is not in the workflow's envelope.secrets");
  await expectRefused(secret("*"), "secret_not_allowed", "envelope.secrets");
  await expectRefused(secret("unset"), "secret_not_connected", "unset is not set");
  expect(resolved()).toEqual(["shop_key"]);
});

test("none is told where the envelope names none", async () => {
  const { attempt } = await mine.run();
  await expectRefused(attempt().secret("shop_key"), "secret_not_allowed", "shop_key");
});

test("another organization's is not there", async () => {
  const stranger = await desk.organization("Stranger");
  const { attempt } = await stranger.run({ secrets: ["shop_key"] });
  await expectRefused(attempt().secret("shop_key"), "secret_not_connected", "shop_key is not set");
});

test("from a cancel on none is told, also to a step that runs", async () => {
  const { attempt, cancel } = await mine.run({ secrets: ["shop_key"] });
  const { secret } = attempt();
  expect(await secret("shop_key")).toBe(VALUE);
  await cancel();
  await expectRefused(secret("shop_key"), "secret_access_revoked", "The run has ended");
  await expectRefused(secret("unset"), "secret_access_revoked", "The run has ended");
});

test("none that was asked for after a cancel was answered is told", async () => {
  const runs = await Promise.all(Array.from({ length: 10 }, () => mine.run({ secrets: ["shop_key"] })));
  const told = runs.map(async ({ attempt, cancel }) => {
    const { secret } = attempt();
    let cancelled = false;
    const late: string[] = [];
    const asking = Array.from({ length: 5 }, async () => {
      while (late.length < 60) {
        const after = cancelled;
        const answer = await secret("shop_key").catch((error: Error) => error.message);
        if (after) late.push(answer);
      }
    });
    await cancel();
    cancelled = true;
    await Promise.all(asking);
    return late;
  });
  const late = (await Promise.all(told)).flat();
  expect(late.length).toBeGreaterThan(100);
  expect(new Set(late)).toEqual(new Set(["The run has ended: no secret is told to its steps any more."]));
});

test("an edit of the envelope holds from the next use on", async () => {
  const { attempt, edit } = await mine.run({ secrets: ["shop_key"] });
  const { secret } = attempt();
  expect(await secret("shop_key")).toBe(VALUE);
  await edit({ secrets: ["other_key"] });
  await expectRefused(secret("shop_key"), "secret_not_allowed", "shop_key");
  expect(await secret("other_key")).toBe("another value");
  await edit({ secrets: null });
  await expectRefused(secret("other_key"), "secret_not_allowed", "other_key");
});

test("a secret that is replaced or removed meanwhile is so at once", async () => {
  const { attempt } = await mine.run({ secrets: ["moving"] });
  const { secret } = attempt();
  await mine.secret("moving", "first value");
  expect(await secret("moving")).toBe("first value");
  await mine.secret("moving", "second value");
  expect(await secret("moving")).toBe("second value");
  expect((await mine.person("DELETE", "/secrets/moving")).status).toBe(204);
  await expectRefused(secret("moving"), "secret_not_connected", "moving is not set");
});

describe("an attempt that is not the one that runs", () => {
  test("since its worker was taken for lost is told nothing and does nothing", async () => {
    const { attempt, lose } = await mine.run({ secrets: ["shop_key"], egress: ["example.com"] });
    const { secret, call, fetch } = attempt();
    expect(await secret("shop_key")).toBe(VALUE);
    await lose();
    for (const work of [
      secret("shop_key"),
      fetch("https://example.com"),
      call("tool", { name: "web_fetch", args: {} }),
      call("search", { query: "a" }),
    ])
      expect(await refusalOf(work)).toMatchObject({ code: "runner_lost", final: false });
  });

  test("since another attempt has begun", async () => {
    const { attempt, again } = await mine.run({ secrets: ["shop_key"] });
    const first = attempt();
    const second = await again(1);
    expect(await refusalOf(first.secret("shop_key"))).toMatchObject({ code: "runner_lost" });
    expect(await second.secret("shop_key")).toBe(VALUE);
    expect(await refusalOf(attempt(3).secret("shop_key"))).toMatchObject({ code: "runner_lost" });
    expect(await refusalOf(attempt(2, 2).secret("shop_key"))).toMatchObject({ code: "runner_lost" });
  });
});

test("what a step was told is taken out of what it leaves", async () => {
  const { attempt } = await mine.run({ secrets: ["shop_key", "other_key"] });
  const { secret, redact, redactJson } = attempt();
  expect(redact(VALUE)).toBe(VALUE);
  await secret("shop_key");
  await secret("other_key");
  const basic = Buffer.from(`user:${VALUE}`).toString("base64");
  expect(redact(`${VALUE} and another value: Basic ${basic}`)).toMatch(
    /^\[secret shop_key\] and \[secret other_key\]: Basic dXNlcjp\[secret shop_key\]/,
  );
  expect(JSON.parse(redactJson(JSON.stringify({ key: VALUE, list: [1] })))).toEqual({
    key: "[secret shop_key]",
    list: [1],
  });
  expect(attempt().redact(VALUE)).toBe(VALUE);
});
