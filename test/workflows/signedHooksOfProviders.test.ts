import { createHmac } from "node:crypto";
import { describe, expect, test } from "vitest";
import { expectRefusal } from "../hostile/target.ts";
import type { Hook } from "./harness.ts";
import { openSignedHooks, SECRET } from "./signedHooks.ts";

/* Webhooks of GitLab, Shopify and Twilio, over HTTP. */

const { hookFor, post, received } = await openSignedHooks();

const hmac = (algorithm: string, text: string) => createHmac(algorithm, SECRET).update(text).digest("base64");

describe("a hook of GitLab", () => {
  const send = (hook: Hook, body: string, more: Record<string, string>) =>
    post(hook, body, { "x-gitlab-token": SECRET, ...more });

  test("starts a run with its payload, once for each idempotency key", async () => {
    const hook = await hookFor({ scheme: "gitlab" }, { headers: ["X-Gitlab-Event"] });
    const push = { "x-gitlab-event": "Push Hook", "idempotency-key": "k1", "x-gitlab-event-uuid": "u1" };
    const first = await send(hook, '{"object_kind":"push"}', push);
    expect(first.status).toBe(202);
    expect(await received(first)).toEqual({
      args: { object_kind: "push" },
      headers: { "x-gitlab-event": "Push Hook" },
    });
    const again = await send(hook, '{"object_kind":"push"}', push);
    expect([again.status, again.body.run_id]).toEqual([202, first.body.run_id]);
    // set off by a hook: the same event, another delivery
    const next = await send(hook, '{"object_kind":"push"}', { ...push, "idempotency-key": "k2" });
    expect(next.body.run_id).not.toBe(first.body.run_id);
  });

  test("is refused without the token, and with another one", async () => {
    const hook = await hookFor({ scheme: "gitlab" });
    const bare = await post(hook, "{}", {});
    expectRefusal(bare, 401, "missing_webhook_signature", null);
    expect(bare.body.error.message).toContain("x-gitlab-token");
    expectRefusal(await send(hook, "{}", { "x-gitlab-token": "a guess" }), 401, "invalid_webhook_signature", null);
  });
});

describe("a webhook of Shopify", () => {
  const send = (hook: Hook, body: string, more: Record<string, string> = {}) =>
    post(hook, body, { "x-shopify-hmac-sha256": hmac("sha256", body), ...more });

  test("starts a run with its payload, once for each webhook id", async () => {
    const hook = await hookFor({ scheme: "shopify" });
    const first = await send(hook, '{"id": 1}', { "x-shopify-webhook-id": "w1" });
    expect([first.status, (await received(first)).args]).toEqual([202, { id: 1 }]);
    const again = await send(hook, '{"id": 1}', { "x-shopify-webhook-id": "w1" });
    expect(again.body.run_id).toBe(first.body.run_id);
    const next = await send(hook, '{"id": 1}', { "x-shopify-webhook-id": "w2" });
    expect(next.body.run_id).not.toBe(first.body.run_id);
  });

  test("is refused if its body was changed", async () => {
    const hook = await hookFor({ scheme: "shopify" });
    const wrong = { "x-shopify-hmac-sha256": hmac("sha256", '{"id": 2}') };
    expectRefusal(await send(hook, '{"id": 1}', wrong), 401, "invalid_webhook_signature", null);
  });
});

describe("a request of Twilio", () => {
  const FORM = "MessageSid=SM1&Body=two+words&From=%2B14158675309";
  const SORTED = "Bodytwo wordsFrom+14158675309MessageSidSM1";
  const send = (hook: Hook, body: string, signed: string, more: Record<string, string> = {}, query = "") =>
    post(
      hook,
      body,
      {
        "content-type": "application/x-www-form-urlencoded; charset=UTF-8",
        "x-twilio-signature": hmac("sha1", hook.hook_url + query + signed),
        ...more,
      },
      query,
    );

  test("starts a run with the fields of its form, once for each idempotency token", async () => {
    const hook = await hookFor({ scheme: "twilio" });
    const token = { "i-twilio-idempotency-token": "t1" };
    const first = await send(hook, FORM, SORTED, token);
    const args = { MessageSid: "SM1", Body: "two words", From: "+14158675309" };
    expect([first.status, (await received(first)).args]).toEqual([202, args]);
    expect((await send(hook, FORM, SORTED, token)).body.run_id).toBe(first.body.run_id);
    expect((await send(hook, FORM, SORTED)).body.run_id).not.toBe(first.body.run_id);
  });

  test("may have a JSON body, whose hash its address contains", async () => {
    const hook = await hookFor({ scheme: "twilio" });
    const query = "?a=1&bodySHA256=44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a";
    const json = { "content-type": "application/json" };
    const answer = await send(hook, "{}", "", json, query);
    expect([answer.status, (await received(answer)).args]).toEqual([202, {}]);
    expectRefusal(await send(hook, '{"a":1}', "", json, query), 401, "invalid_webhook_signature", null);
  });

  test("is refused with the correct address if it signs another address or other fields", async () => {
    const hook = await hookFor({ scheme: "twilio" });
    expectRefusal(await send(hook, FORM, `${SORTED}x`), 401, "invalid_webhook_signature", null);
    const elsewhere = { "x-twilio-signature": hmac("sha1", `https://elsewhere.example/x${SORTED}`) };
    const refusal = await send(hook, FORM, SORTED, elsewhere);
    expectRefusal(refusal, 401, "invalid_webhook_signature", null);
    expect(refusal.body.error.message).toContain(hook.hook_url);
  });
});
