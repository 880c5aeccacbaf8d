import { createHmac } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { Verification } from "#events/trigger.ts";
import { checkSignature, deliveryId } from "./hookSignature.ts";

/*
 * Signatures of webhooks. Those of GitHub, Slack and Standard Webhooks are from the providers' documentation, those of Twilio from
 * the tests of its libraries. The others are computed here: their providers publish no example with its secret.
 */

interface Vector {
  verify: Verification;
  secret: string;
  headers: Record<string, string>;
  body: string;
  /** Unix seconds. */
  at: number;
  url?: string;
}

const hmac: Extract<Verification, { scheme: "hmac" }> = {
  scheme: "hmac",
  header: "x-signature",
  algorithm: "sha256",
  encoding: "hex",
  prefix: "",
  timestamp_header: null,
  id_header: null,
};
const sign = (secret: string, text: string, algorithm = "sha256", encoding: "hex" | "base64" = "hex"): string =>
  createHmac(algorithm, secret).update(text).digest(encoding);

const AT = 1_700_000_000;
const TWILIO_URL = "https://mycompany.com/myapp.php?foo=1&bar=2";
const TWILIO_FORM = "Digits=1234&To=%2B18005551212&From=%2B14158675309&Caller=%2B14158675309&CallSid=CA1234567890ABCDE";
const byTwilio = (signature: string, body: string, url = TWILIO_URL): Vector => ({
  verify: { scheme: "twilio" },
  secret: "12345",
  headers: { "x-twilio-signature": signature },
  body,
  at: AT,
  url,
});
const VECTORS: Record<string, Vector> = {
  GitHub: {
    verify: { scheme: "github" },
    secret: "It's a Secret to Everybody",
    headers: { "x-hub-signature-256": "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17" },
    body: "Hello, World!",
    at: AT,
  },
  Slack: {
    verify: { scheme: "slack" },
    secret: "8f742231b10e8888abcd99yyyzzz85a5",
    headers: {
      "x-slack-request-timestamp": "1531420618",
      "x-slack-signature": "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503",
    },
    body: "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c",
    at: 1_531_420_618,
  },
  "Standard Webhooks": {
    verify: { scheme: "standard-webhooks" },
    secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
    headers: {
      "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
      "webhook-timestamp": "1614265330",
      "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    },
    body: '{"test": 2432232314}',
    at: 1_614_265_330,
  },
  Stripe: {
    verify: { scheme: "stripe" },
    secret: "whsec_test_secret",
    headers: { "stripe-signature": `t=${AT},v0=6ffbb59b2300,v1=${sign("whsec_test_secret", `${AT}.{"id":"evt_1"}`)}` },
    body: '{"id":"evt_1"}',
    at: AT,
  },
  Twilio: byTwilio("RSOYDt4T1cUTdK1PDd93/VVr8B8=", TWILIO_FORM),
  "Twilio with a value that is sent twice": byTwilio(
    "IK+Dwps556ElfBT0I3Rgjkr1wJU=",
    "Sid=CA123&SidAccount=AC123&Digits=5678&Digits=1234&Digits=1234",
  ),
  "Twilio on a body that is no form": byTwilio(
    "a9nBmqA0ju/hNViExpshrM61xv4=",
    '{"property": "value", "boolean": true}',
    `${TWILIO_URL}&bodySHA256=0a1ff7634d9ab3b95db5c9a2dfe9416e41502b283a80c7cf19632632f96e6620`,
  ),
  Shopify: {
    verify: { scheme: "shopify" },
    secret: "hush-hush",
    headers: { "x-shopify-hmac-sha256": sign("hush-hush", "{}", "sha256", "base64") },
    body: "{}",
    at: AT,
  },
  "a sender of base64": {
    verify: { ...hmac, header: "x-shopify-hmac-sha256", encoding: "base64" },
    secret: "hush-hush",
    headers: { "x-shopify-hmac-sha256": sign("hush-hush", "{}", "sha256", "base64") },
    body: "{}",
    at: AT,
  },
  "a sender with a time, a prefix and SHA-512": {
    verify: { ...hmac, algorithm: "sha512", prefix: "sha512=", timestamp_header: "x-time" },
    secret: "hush-hush",
    headers: { "x-time": String(AT), "x-signature": `sha512=${sign("hush-hush", `${AT}.{}`, "sha512")}` },
    body: "{}",
    at: AT,
  },
};

const check = ({ verify, secret, headers, body, at, url = "" }: Vector) =>
  checkSignature(verify, secret, { headers, body: Buffer.from(body), url }, at * 1_000);
const refused = (vector: Vector, errorCode = "invalid_webhook_signature") =>
  expect(() => check(vector)).toThrow(expect.objectContaining({ errorCode, status: 401 }));

describe.each(Object.entries(VECTORS))("a signature of %s", (_, vector) => {
  const signatureHeader = Object.keys(vector.headers).find((name) => /sign|hmac/.test(name))!;
  const withSignature = (signature: string): Vector => ({
    ...vector,
    headers: { ...vector.headers, [signatureHeader]: signature },
  });

  test("is accepted for its body and its secret only", () => {
    check(vector);
    refused({ ...vector, body: `${vector.body} ` });
    refused({ ...vector, body: "" });
    if (vector.url) refused({ ...vector, url: `${vector.url}&more=1` });
    refused({ ...vector, secret: `A${vector.secret}` });
  });

  test("is refused when it is missing, empty, cut off or another one", () => {
    const signature = vector.headers[signatureHeader]!;
    const { [signatureHeader]: _gone, ...headers } = vector.headers;
    refused({ ...vector, headers }, "missing_webhook_signature");
    for (const other of ["", "=", ",", signature.slice(0, -8), signature.slice(0, 12), "ü", `x${signature}`])
      refused(withSignature(other));
  });
});

describe("the time of a signature", () => {
  const TIMED = ["Slack", "Standard Webhooks", "Stripe", "a sender with a time, a prefix and SHA-512"];
  const timed = TIMED.map((name) => [name, VECTORS[name]!] as const);
  test.each(timed)("of %s may be five minutes away and no more", (_, vector) => {
    for (const seconds of [-300, 300]) check({ ...vector, at: vector.at + seconds });
    for (const seconds of [-301, 301, 1_000_000]) refused({ ...vector, at: vector.at + seconds });
  });
  const untimed = Object.keys(VECTORS).filter((name) => !TIMED.includes(name));
  test.each(untimed)("of %s is not part of it", (name) => check({ ...VECTORS[name]!, at: AT + 1_000_000 }));
});

test("a time that is not the signed one is refused", () => {
  const { Slack: slack, Stripe: stripe } = VECTORS as Record<"Slack" | "Stripe", Vector>;
  refused({ ...slack, headers: { ...slack.headers, "x-slack-request-timestamp": String(slack.at + 1) } });
  const header = stripe.headers["stripe-signature"]!;
  refused({ ...stripe, headers: { "stripe-signature": header.replace(`t=${AT}`, `t=${AT + 1}`) } });
  refused({ ...stripe, headers: { "stripe-signature": header.replace(`t=${AT},`, "") } });
});

test("one of several signatures is enough while the sender replaces its secret", () => {
  const { Stripe: stripe, "Standard Webhooks": standard } = VECTORS;
  const header = stripe!.headers["stripe-signature"]!;
  check({ ...stripe!, headers: { "stripe-signature": header.replace("v1=", "v1=00,v1=") } });
  const signatures = `v1,AAAA v1a,BBBB ${standard!.headers["webhook-signature"]}`;
  check({ ...standard!, headers: { ...standard!.headers, "webhook-signature": signatures } });
});

test("headers of Standard Webhooks may be called svix", () => {
  const { "Standard Webhooks": standard } = VECTORS;
  const headers = Object.entries(standard!.headers).map(([name, value]) => [name.replace("webhook", "svix"), value]);
  check({ ...standard!, headers: Object.fromEntries(headers) });
});

describe("the token of GitLab", () => {
  const vector = (token: string, secret = "glhook-Tölpel-1"): Vector => ({
    verify: { scheme: "gitlab" },
    secret,
    headers: { "x-gitlab-token": token },
    body: "{}",
    at: AT,
  });
  // a header arrives as latin1
  const sent = Buffer.from("glhook-Tölpel-1").toString("latin1");

  test("is accepted when it is the secret", () => check(vector(sent)));
  test("is refused when it is missing, empty, cut off or another one", () => {
    refused({ ...vector(""), headers: {} }, "missing_webhook_signature");
    for (const other of ["", sent.slice(0, -1), `${sent}x`, sent.toUpperCase(), `Bearer ${sent}`])
      refused(vector(other));
    refused(vector(sent, "another secret"));
  });
});

describe("the address that Twilio signs", () => {
  test("may have its port or not", () => {
    const signed = (url: string) => sign("12345", `${url}a1`, "sha1", "base64");
    const withPort = signed("https://mycompany.com:443/x?y=1");
    check(byTwilio(withPort, "a=1", "https://mycompany.com/x?y=1"));
    check(byTwilio(withPort, "a=1", "https://mycompany.com:443/x?y=1"));
    check(byTwilio(signed("http://[::1]/x"), "a=1", "http://[::1]:8080/x"));
    refused(byTwilio(withPort, "a=1", "https://mycompany.com:8443/x?y=1"));
    refused(byTwilio(withPort, "a=1", "https://mycompany.com.evil/x?y=1"));
  });

  test("is named in the refusal of a request that signs another one", () => {
    const { "Twilio on a body that is no form": json } = VECTORS;
    expect(() => check({ ...json!, body: "{}" })).toThrow(TWILIO_URL);
  });
});

test("a delivery is identified by the sender's id, or by its signature where that has a time", () => {
  const idOf = (verify: Verification, headers: Record<string, string>, payload: unknown = {}) =>
    deliveryId(verify, { headers, body: Buffer.from(JSON.stringify(payload)), url: "" }, payload);
  expect(idOf({ scheme: "github" }, { "x-github-delivery": "d1" })).toBe("d1");
  expect(idOf({ scheme: "stripe" }, { "stripe-signature": "s" }, { id: "evt_1" })).toBe("evt_1");
  expect(idOf({ scheme: "slack" }, { "x-slack-signature": "s" }, { event_id: "Ev1" })).toBe("Ev1");
  expect(idOf({ scheme: "slack" }, { "x-slack-signature": "s" }, { command: "/go" })).toBe("s");
  expect(idOf({ scheme: "standard-webhooks" }, { "webhook-id": "msg_1" })).toBe("msg_1");
  expect(idOf({ scheme: "shopify" }, { "x-shopify-webhook-id": "w1" })).toBe("w1");
  expect(idOf({ scheme: "twilio" }, { "i-twilio-idempotency-token": "t1", "x-twilio-signature": "s" })).toBe("t1");
  expect(idOf({ scheme: "twilio" }, { "x-twilio-signature": "s" })).toBeUndefined();
  expect(idOf({ scheme: "gitlab" }, { "idempotency-key": "k", "x-gitlab-event-uuid": "u" })).toBe("k");
  expect(idOf({ scheme: "gitlab" }, {})).toBeUndefined();
  expect(idOf({ ...hmac, id_header: "x-id" }, { "x-id": "i" })).toBe("i");
  expect(idOf({ ...hmac, timestamp_header: "x-time" }, { "x-signature": "s" })).toBe("s");
  expect(idOf(hmac, { "x-signature": "s", "idempotency-key": "k" })).toBe("k");
  expect(idOf(hmac, { "x-signature": "s" })).toBeUndefined();
});

test("events of GitLab that share an id, because a hook set one off, are two deliveries", () => {
  const idOf = (body: string) =>
    deliveryId({ scheme: "gitlab" }, { headers: { "x-gitlab-event-uuid": "u" }, body: Buffer.from(body), url: "" }, {});
  expect(idOf("{}")).toBe(idOf("{}"));
  expect(idOf("{}")).not.toBe(idOf("[]"));
});
