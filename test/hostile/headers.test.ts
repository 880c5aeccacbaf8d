import { describe, expect, test } from "vitest";
import { expectRefusal, leavesWell, parsed, say, startTarget } from "./target.ts";

const target = await startTarget();
leavesWell(() => target);

const request = (...headers: string[]) =>
  ["GET /api/openai/v1/models HTTP/1.1", "Host: x", "Connection: close", ...headers, "", ""].join("\r\n");
const refused = (received: string) => {
  const answer = parsed(received)!;
  return [answer.status, answer.body.error.code];
};

describe("the header Authorization", () => {
  const right = () => `Authorization: Bearer ${target.api_key}`;

  test("is refused when it is sent twice, whichever value comes first", async () => {
    for (const other of [right(), "Authorization: Bearer sk-svc-other", "authorization: x", "Authorization:"])
      for (const both of [
        [right(), other],
        [other, right()],
      ])
        expect(refused(await target.raw(request(...both)))).toEqual([401, "invalid_api_key"]);
  });

  test.each([
    ["only the scheme", "Bearer"],
    ["another scheme", "Basic c2stc3ZjOng="],
    ["no scheme", "sk-svc-x"],
    ["garbage", "Bearer %00%ff'\"\\;--"],
    ["a token with spaces", "Bearer sk-svc-a b"],
    ["two tokens", "Bearer sk-svc-a,sk-svc-b"],
    ["a token of 4 KiB", `Bearer sk-svc-${"x".repeat(4096)}`],
    ["a property name as its token", "Bearer sk-svc-__proto__"],
    ["a webhook secret", "Bearer whsec-svc-x"],
    ["a token without a signature", "Bearer eyJhbGciOiJub25lIn0.e30."],
  ])("is refused with %s", async (_name, authorization) => {
    expectRefusal(await target.send("GET", "/models", undefined, { authorization }), 401, "invalid_api_key", null);
  });

  test.each(["é", "🎉", "\u202e", "ключ"])("is refused with a key that contains %s", async (odd) => {
    const bytes = Buffer.from(request(`Authorization: Bearer sk-svc-${odd}`));
    expect(refused(await target.raw(bytes))).toEqual([401, "invalid_api_key"]);
  });

  test("is refused with a key that differs in its last character, or only in case", async () => {
    const last = target.api_key.at(-1) === "A" ? "B" : "A";
    for (const wrong of [
      target.api_key.slice(0, -1) + last,
      target.api_key.slice(0, -1),
      `${target.api_key}A`,
      target.api_key.toUpperCase(),
    ])
      expectRefusal(
        await target.send("GET", "/models", undefined, { authorization: `Bearer ${wrong}` }),
        401,
        "invalid_api_key",
        null,
      );
  });

  test("counts as missing when it is empty, and is invalid HTTP with a control character", async () => {
    expect(refused(await target.raw(request("Authorization:")))).toEqual([401, "missing_api_key"]);
    expect(refused(await target.raw(request("Authorization:   ")))).toEqual([401, "missing_api_key"]);
    expect(refused(await target.raw(request("Authorization: Bearer sk-svc-\u0000")))).toEqual([400, null]);
  });

  test("is checked before anything else is read", async () => {
    const bad = await target.send("POST", "/chat/completions", "{bad", { authorization: "Bearer x" });
    expectRefusal(bad, 401, "invalid_api_key", null);
  });
});

describe("odd headers:", () => {
  test.each(["__proto__: 1", "constructor: 1", "prototype: x", "hasOwnProperty: 1", "toString: 1"])(
    "%s is ignored",
    async (header) => {
      const answer = parsed(await target.raw(request(`Authorization: Bearer ${target.api_key}`, header, header)));
      expect(answer?.status).toBe(200);
    },
  );

  test("an invalid request id is replaced", async () => {
    for (const id of ["a b", "<script>", "x".repeat(1_000), "é", '"']) {
      const received = await target.raw(request(`Authorization: Bearer ${target.api_key}`, `x-request-id: ${id}`));
      expect(/\r\nx-request-id: ([^\r\n]*)/i.exec(received)?.[1]).toMatch(/^[0-9a-f-]{36}$/);
    }
  });

  test("an answer reveals neither the caller nor the proxy", async () => {
    const received = await target.raw(
      request(
        `Authorization: Bearer ${target.api_key}`,
        "X-Forwarded-Host: evil.example",
        "X-Forwarded-For: evil",
        "Forwarded: host=evil.example",
      ),
    );
    expect(received).toMatch(/^HTTP\/1\.1 200 /);
    expect(received).not.toContain("evil");
  });

  test.each([
    ["", 400],
    ["a b", 400],
    ["x".repeat(256), 400],
    ["é", 400],
  ])("Idempotency-Key %j is refused", async (key, status) => {
    const body = JSON.stringify(say("x"));
    const head = target.head(
      "POST /api/openai/v1/chat/completions",
      "Connection: close",
      "Content-Type: application/json",
      `Content-Length: ${body.length}`,
      `Idempotency-Key: ${key}`,
    );
    const answer = parsed(await target.raw(head + body))!;
    expect([answer.status, answer.body.error.code]).toEqual([status, "invalid_idempotency_key"]);
  });

  test.each(["-1", "NaN", "1e400", "1, 2", "true", "9".repeat(500)])(
    "a retry count of %s causes no failure",
    async (count) => {
      expect((await target.complete(say("x"), { "x-stainless-retry-count": count })).status).toBe(200);
    },
  );

  test("too many or too large headers are refused", async () => {
    const large = parsed(await target.raw(request(`X-Large: ${"a".repeat(40_000)}`)))!;
    expect([large.status, large.body.error.code]).toEqual([431, "headers_too_large"]);
    const many = parsed(await target.raw(request(...Array.from({ length: 3_000 }, (_, n) => `X-${n}: 1`))))!;
    expect([401, 431]).toContain(many.status);
  });
});
