import { describe, expect, test } from "vitest";
import { toolSource } from "../tools/desk.ts";
import { expectRefused, openStepAttempts, failureOf } from "./stepAttempts.ts";

/* Secrets of a step: within the envelope, and only as long as its run is live. */

const VALUE = "sk-live-canary-4711";
const platform = await openStepAttempts();
const mine = await platform.organization();
await mine.secret("shop_key", VALUE);
await mine.secret("other_key", "another value");

test("a step reads a secret that the envelope names and that is set", async () => {
  const { attempt } = await mine.run({ secrets: ["shop_key", "unset"] });
  const { secret, secretNames } = attempt();
  expect(await secret("shop_key")).toBe(VALUE);
  await expectRefused(secret("other_key"), "secret_not_allowed", "other_key is not in the workflow's envelope.secrets");
  await expectRefused(secret("*"), "secret_not_allowed", "envelope.secrets");
  await expectRefused(secret("unset"), "secret_not_connected", "unset is not set");
  expect(secretNames()).toEqual(["shop_key"]);
});

test("a step reads no secret when the envelope names none", async () => {
  const { attempt } = await mine.run();
  await expectRefused(attempt().secret("shop_key"), "secret_not_allowed", "shop_key");
});

test("a secret of another organization is not found", async () => {
  const stranger = await platform.organization("Stranger");
  const { attempt } = await stranger.run({ secrets: ["shop_key"] });
  await expectRefused(attempt().secret("shop_key"), "secret_not_connected", "shop_key is not set");
});

test("after a cancellation no step reads a secret, not even a running one", async () => {
  const { attempt, cancel } = await mine.run({ secrets: ["shop_key"] });
  const { secret } = attempt();
  expect(await secret("shop_key")).toBe(VALUE);
  await cancel();
  await expectRefused(secret("shop_key"), "secret_access_revoked", "The run has ended");
  await expectRefused(secret("unset"), "secret_access_revoked", "The run has ended");
});

test("after a cancellation a tool that a step or its model calls reads no secret", async () => {
  const source = toolSource("return { length: (await secrets.get('shop_key')).length };", { secrets: ["shop_key"] });
  const made = { type: "tool", name: "peek", source, grants: ["shop_key"] };
  await mine.made(mine.owner("POST", "/definitions", made));
  const { attempt, cancel } = await mine.run();
  const { call } = attempt();
  const ask = { model: "offline/scripted", messages: [{ role: "user", content: "/tool peek {}" }], tools: ["peek"] };
  expect(await call("tool", { name: "peek" })).toEqual({ length: VALUE.length });
  expect((await call("chat", ask)).content).toContain(`"length":${VALUE.length}`);
  await cancel();
  const refused = await failureOf(call("tool", { name: "peek" }));
  expect([refused.code, refused.message]).toEqual(["step_error", expect.stringContaining("The run has ended")]);
  const { content } = await call("chat", { ...ask, seed: 1 });
  expect(content).toContain("The run has ended");
});

test("a secret requested after the answer to a cancellation is not read", async () => {
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
  expect(new Set(late)).toEqual(new Set(["The run has ended: its steps can read no more secrets."]));
});

test("an edit of the envelope applies from the next read on", async () => {
  const { attempt, edit } = await mine.run({ secrets: ["shop_key"] });
  const { secret } = attempt();
  expect(await secret("shop_key")).toBe(VALUE);
  await edit({ secrets: ["other_key"] });
  await expectRefused(secret("shop_key"), "secret_not_allowed", "shop_key");
  expect(await secret("other_key")).toBe("another value");
  await edit({ secrets: null });
  await expectRefused(secret("other_key"), "secret_not_allowed", "other_key");
});

test("replacing or removing a secret affects running steps at once", async () => {
  const { attempt } = await mine.run({ secrets: ["moving"] });
  const { secret } = attempt();
  await mine.secret("moving", "first value");
  expect(await secret("moving")).toBe("first value");
  await mine.secret("moving", "second value");
  expect(await secret("moving")).toBe("second value");
  expect((await mine.owner("DELETE", "/secrets/moving")).status).toBe(204);
  await expectRefused(secret("moving"), "secret_not_connected", "moving is not set");
});

describe("an attempt that is no longer current", () => {
  test("reads and does nothing after its worker was declared lost", async () => {
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
      expect(await failureOf(work)).toMatchObject({ code: "runner_lost", final: false });
  });

  test("reads and does nothing after another attempt has begun", async () => {
    const { attempt, retry } = await mine.run({ secrets: ["shop_key"] });
    const first = attempt();
    const second = await retry(1);
    expect(await failureOf(first.secret("shop_key"))).toMatchObject({ code: "runner_lost" });
    expect(await second.secret("shop_key")).toBe(VALUE);
    expect(await failureOf(attempt(3).secret("shop_key"))).toMatchObject({ code: "runner_lost" });
    expect(await failureOf(attempt(2, 2).secret("shop_key"))).toMatchObject({ code: "runner_lost" });
  });
});

test("a secret that a step read is removed from all of its output", async () => {
  const { attempt } = await mine.run({ secrets: ["shop_key", "other_key"] });
  const { secret, redact, redactJson } = attempt();
  expect(await redact(VALUE)).toBe(VALUE);
  await secret("shop_key");
  await secret("other_key");
  const basic = Buffer.from(`user:${VALUE}`).toString("base64");
  expect(await redact(`${VALUE} and another value: Basic ${basic}`)).toMatch(
    /^\[secret shop_key\] and \[secret other_key\]: Basic dXNlcjp\[secret shop_key\]/,
  );
  expect(JSON.parse(await redactJson(JSON.stringify({ key: VALUE, list: [1] })))).toEqual({
    key: "[secret shop_key]",
    list: [1],
  });
  expect(await attempt().redact(VALUE)).toBe(VALUE);
});

test("a secret that a step read is in no search, which finds documents that were stored without it", async () => {
  const slug = await mine.knowledge.collect("Tills");
  const { attempt } = await mine.run({ secrets: ["shop_key"], writable_collections: [slug] });
  const { secret, call } = attempt();
  await secret("shop_key");
  const text = "The till of the shop is counted at night.";
  const { document_id } = await call("push", { collection: slug, text, tags: [VALUE], external_id: VALUE });
  expect(await mine.knowledge.ended(document_id)).toMatchObject({ status: "ready", tags: ["[secret shop_key]"] });
  const search = { query: "till", tags: [VALUE] };
  expect((await call("search", search)).results).toMatchObject([{ document_id }]);
  const inTool = { name: "search_documents", args: search };
  expect((await call("tool", inTool)).results).toMatchObject([{ document_id }]);
  expect(await call("remove", { collection: slug, external_id: VALUE })).toEqual({ document_id, removed: true });
});

test("a tool of the organization gets the secrets that a step passes to it", async () => {
  await mine.tool("measure", toolSource("return { length: args.key.length };"));
  const { secret, call } = (await mine.run({ secrets: ["shop_key"] })).attempt();
  await secret("shop_key");
  expect(await call("tool", { name: "measure", args: { key: VALUE } })).toEqual({ length: VALUE.length });
});
