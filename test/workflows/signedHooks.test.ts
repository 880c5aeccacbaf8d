import { createHmac } from "node:crypto";
import { describe, expect, test } from "vitest";
import { expectRefusal } from "../hostile/target.ts";
import { tablesWith } from "../tables.ts";
import type { Hook } from "./harness.ts";
import { openSignedHooks, SECRET } from "./signedHooks.ts";

/* Webhooks as providers send them: signed bodies, forms, lists, and deliveries that are repeated. */

const { w, workflow, hookFor, post, received } = await openSignedHooks();

const sign = (text: string, secret = SECRET) => createHmac("sha256", secret).update(text).digest("hex");
const seconds = () => Math.floor(Date.now() / 1_000);
const fromGithub = (hook: Hook, body: string, more: Record<string, string> = {}) =>
  post(hook, body, { "x-hub-signature-256": `sha256=${sign(body)}`, "x-github-delivery": "d1", ...more });
const fromStripe = (hook: Hook, body: string, t = seconds()) =>
  post(hook, body, { "stripe-signature": `t=${t},v1=${sign(`${t}.${body}`)}` });
const fromSlack = (hook: Hook, body: string, more: Record<string, string> = {}, t = seconds()) =>
  post(hook, body, {
    "x-slack-request-timestamp": String(t),
    "x-slack-signature": `v0=${sign(`v0:${t}:${body}`)}`,
    ...more,
  });
const FORM = { "content-type": "application/x-www-form-urlencoded" };
const runsOf = async ({ id }: Hook): Promise<number> =>
  (await w.home.owner("GET", `/workflows/${workflow.id}/runs?trigger_id=${id}`)).body.total;

describe("a delivery of GitHub", () => {
  test("starts a run once with its payload and the chosen headers, however often it is sent", async () => {
    const hook = await hookFor(
      { scheme: "github" },
      { headers: ["X-GitHub-Event", "x-absent"], default_args: { a: 1 } },
    );
    const answer = await fromGithub(hook, '{"action":"opened"}', { "x-github-event": "issues" });
    expect([answer.status, answer.body]).toEqual([
      202,
      { run_id: expect.any(String), status: "pending", status_url: expect.any(String) },
    ]);
    const headers = { "x-github-event": "issues" };
    expect(await received(answer)).toEqual({ args: { a: 1, action: "opened" }, headers });
    expect((await w.home.read(answer.body.run_id)).headers).toEqual(headers);
    const again = await fromGithub(hook, '{"action":"opened"}');
    expect([again.status, again.body.run_id]).toEqual([202, answer.body.run_id]);
    const next = await fromGithub(hook, '{"action":"opened"}', { "x-github-delivery": "d2" });
    expect(next.body.run_id).not.toBe(answer.body.run_id);
  });

  test("may be a form with the JSON in its field payload", async () => {
    const hook = await hookFor({ scheme: "github" });
    const body = new URLSearchParams({ payload: '{"zen":"Keep it logically awesome."}' }).toString();
    expect((await received(await fromGithub(hook, body, FORM))).args).toEqual({ zen: "Keep it logically awesome." });
  });

  test("is refused without the signature of the trigger's secret, even with the secret itself", async () => {
    const hook = await hookFor({ scheme: "github" });
    expectRefusal(await post(hook, "{}", {}), 401, "missing_webhook_signature", null);
    const bearer = { authorization: `Bearer ${hook.secret}` };
    expectRefusal(await post(hook, "{}", bearer), 401, "missing_webhook_signature", null);
    const wrong = { "x-hub-signature-256": `sha256=${sign("{}", "another secret")}` };
    expectRefusal(await post(hook, "{}", wrong), 401, "invalid_webhook_signature", null);
    // the signature is checked first: an unsigned body is not parsed
    expectRefusal(await post(hook, "{", wrong), 401, "invalid_webhook_signature", null);
    expectRefusal(await fromGithub(hook, "{"), 400, "invalid_json", null);
    expectRefusal(await fromGithub(hook, "1"), 400, "invalid_payload", null);
    expect(await runsOf(hook)).toBe(0);
  });

  test("can be polled with the trigger's own secret", async () => {
    const hook = await hookFor({ scheme: "github" });
    const { run_id } = (await fromGithub(hook, "{}")).body;
    expect((await w.home.polled(hook, run_id)).status).toBe("completed");
  });
});

describe("an event of Stripe", () => {
  test("starts one run, even if a repetition differs in Stripe's counters", async () => {
    const hook = await hookFor({ scheme: "stripe" });
    const first = await fromStripe(hook, '{"id":"evt_1","pending_webhooks":2}', seconds() - 60);
    const again = await fromStripe(hook, '{"id":"evt_1","pending_webhooks":1}');
    expect([first.status, again.status, again.body.run_id]).toEqual([202, 202, first.body.run_id]);
    expect(await runsOf(hook)).toBe(1);
  });

  test("is refused if its signature is older than five minutes", async () => {
    const hook = await hookFor({ scheme: "stripe" });
    const old = await fromStripe(hook, '{"id":"evt_1"}', seconds() - 400);
    expectRefusal(old, 401, "invalid_webhook_signature", null);
  });
});

describe("a request of Slack", () => {
  test("to verify the address is answered with its challenge and starts nothing", async () => {
    const hook = await hookFor({ scheme: "slack" });
    const answer = await fromSlack(hook, '{"type":"url_verification","token":"t","challenge":"3eZbrw1aB10"}');
    expect([answer.status, answer.body, await runsOf(hook)]).toEqual([200, { challenge: "3eZbrw1aB10" }, 0]);
    const body = '{"type":"url_verification","challenge":"x"}';
    expectRefusal(await post(hook, body, { "x-slack-signature": "v0=00" }), 401, "invalid_webhook_signature", null);
  });

  test("may be a form, and gets a 200", async () => {
    const hook = await hookFor({ scheme: "slack" });
    const answer = await fromSlack(hook, "command=%2Fdeploy&text=to+production&id=1&id=2&__proto__=x", FORM);
    expect(answer.status).toBe(200);
    const { args } = await received(answer);
    expect(Object.entries(args)).toEqual(
      expect.arrayContaining([
        ["command", "/deploy"],
        ["text", "to production"],
        ["id", ["1", "2"]],
        ["__proto__", "x"],
      ]),
    );
  });

  test("is accepted once: an event by its id, a command by its signature", async () => {
    const hook = await hookFor({ scheme: "slack" });
    const event = '{"event_id":"Ev1"}';
    const t = seconds();
    const runs = [
      await fromSlack(hook, event, { "x-slack-retry-num": "1" }, t - 5),
      await fromSlack(hook, event, {}, t),
      await fromSlack(hook, "command=a", FORM, t),
      await fromSlack(hook, "command=a", FORM, t),
      await fromSlack(hook, "command=a", FORM, t - 1),
    ].map(({ body }) => body.run_id);
    expect([runs[0] === runs[1], runs[2] === runs[3], new Set(runs).size]).toEqual([true, true, 3]);
  });
});

test("a list from a sender that signs becomes the argument payload", async () => {
  const hook = await hookFor(
    { scheme: "hmac", header: "X-Signature", prefix: "sha256=" },
    { default_args: { source: "mail" } },
  );
  const body = '[{"event":"delivered"}]';
  const answer = await post(hook, body, { "x-signature": `sha256=${sign(body)}` });
  expect((await received(answer)).args).toEqual({ source: "mail", payload: [{ event: "delivered" }] });
});

test("a delivery of Standard Webhooks starts one run", async () => {
  const key = Buffer.from("the key of the sender");
  const hook = await hookFor({ scheme: "standard-webhooks", secret: `whsec_${key.toString("base64")}` });
  const send = (t: number) =>
    post(hook, "{}", {
      "webhook-id": "msg_1",
      "webhook-timestamp": String(t),
      "webhook-signature": `v1,${createHmac("sha256", key).update(`msg_1.${t}.{}`).digest("base64")}`,
    });
  const [first, second] = [await send(seconds() - 2), await send(seconds())];
  expect([first.status, second.body.run_id]).toEqual([202, first.body.run_id]);
});

describe("the secret of a sender", () => {
  test("is neither shown nor stored in plain text, and is deleted with its trigger", async () => {
    const hook = (await hookFor({ scheme: "github" })) as Hook & { verify: object };
    expect(hook.verify).toEqual({ scheme: "github" });
    const list = await w.home.owner("GET", `/workflows/${workflow.id}/triggers?limit=500`);
    expect(list.text).not.toContain(SECRET);
    expect(await tablesWith(w.resources.db, SECRET)).toEqual([]);
    expect((await fromGithub(hook, "{}")).status).toBe(202);
    expect((await w.home.owner("DELETE", `/workflows/${workflow.id}/triggers/${hook.id}`)).status).toBe(204);
    // as an unknown hook
    expectRefusal(await fromGithub(hook, "{}"), 401, "missing_webhook_secret", null);
    expectRefusal(await post(hook, "{}", { authorization: `Bearer ${hook.secret}` }), 404, "trigger_not_found", null);
    const [row] = await w.resources.db.query<{ sealed_secret: string | null }>(
      "select sealed_secret from read.triggers where id = $1",
      [hook.id],
    );
    expect(row!.sealed_secret).toBeNull();
  });

  test("can be replaced: the old one stops working at once, and the trigger's own secret stays", async () => {
    const hook = await hookFor({ scheme: "github" });
    const rotate = (body?: object, of = hook) =>
      w.home.owner("POST", `/workflows/${workflow.id}/triggers/${of.id}/rotate`, body);
    const { status, body } = await rotate({ verify: { secret: "the next secret" } });
    expect([status, body.secret, body.secret_hint]).toEqual([200, undefined, hook.secret.slice(-4)]);
    expectRefusal(await fromGithub(hook, "{}"), 401, "invalid_webhook_signature", null);
    const next = { "x-hub-signature-256": `sha256=${sign("{}", "the next secret")}` };
    const { run_id } = (await post(hook, "{}", next)).body;
    expect((await w.home.polled(hook, run_id)).status).toBe("completed");
    const plain = await w.home.hook(workflow);
    expectRefusal(await rotate({ verify: { secret: "the next secret" } }, plain), 400, "invalid_verify", "verify");
  });
});

describe("a trigger is refused", () => {
  const secret = SECRET;
  test.each([
    ["an unknown scheme", { verify: { scheme: "bitbucket", secret } }, "invalid_verify", "verify.scheme"],
    ["no secret of the sender", { verify: { scheme: "github" } }, "invalid_verify", "verify.secret"],
    ["a short secret", { verify: { scheme: "github", secret: "seven77" } }, "invalid_verify", "verify.secret"],
    ["a secret in no base64", { verify: { scheme: "standard-webhooks", secret } }, "invalid_verify", "verify.secret"],
    ["no header of the signature", { verify: { scheme: "hmac", secret } }, "invalid_verify", "verify.header"],
    ["a header that is none", { headers: ["a b"] }, "invalid_headers", "headers[0]"],
    ["a header with a credential", { headers: ["Authorization"] }, "invalid_headers", "headers[0]"],
    ["the header with the secret of GitLab", { headers: ["X-Gitlab-Token"] }, "invalid_headers", "headers[0]"],
  ])("with %s", async (_, body, errorCode, param) => {
    expectRefusal(await w.home.owner("POST", `/workflows/${workflow.id}/triggers`, body), 400, errorCode, param);
  });
});
