import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { expectRefusal, leavesWell, parsed, say, startTarget } from "./target.ts";

/* What a careless client sends is refused with what would be right. */

const target = await startTarget();
leavesWell(() => target);
const login = `${target.platform.url}/api/auth/login`;
const { token } = (await target.send("POST", login, target.credentials.admin, { authorization: "" })).body;
const session = { authorization: `Bearer ${token}` };

describe("a body with a Content-Encoding", () => {
  const text = JSON.stringify(say("x"));
  test.each([
    ["gzip", gzipSync(text)],
    ["br", text],
    ["gzip, identity", text],
  ])("%s is refused with 415 and the advice to send it unencoded", async (encoding, body) => {
    const answer = await target.complete(body, { "content-encoding": encoding });
    expectRefusal(answer, 415, "unsupported_media_type", "Content-Encoding");
    expect([answer.headers.get("accept-encoding"), answer.body.error.message]).toEqual([
      "identity",
      expect.stringContaining("without compression"),
    ]);
  });

  test("is refused for a form as well, and accepted if it is identity", async () => {
    const form = new FormData();
    form.set("file", new File(["x"], "a.txt"));
    const headers = { "content-encoding": "gzip" };
    expectRefusal(await target.send("POST", "/files", form, headers), 415, "unsupported_media_type");
    expect((await target.complete(text, { "content-encoding": "Identity" })).status).toBe(200);
  });
});

test("several Host headers are refused", async () => {
  const ask = (...hosts: string[]) =>
    target.raw(["GET /api/openai/v1/models HTTP/1.1", "Connection: close", ...hosts, "", ""].join("\r\n"));
  for (const hosts of [
    ["Host: a", "Host: b"],
    ["host: a", "HOST: a"],
  ]) {
    const { status, body } = parsed(await ask(...hosts))!;
    expect([status, body.error.message]).toEqual([400, "The request has several Host headers."]);
  }
  expect(parsed(await ask("Host: a"))!.status).toBe(401);
});

test.each(["user", "purpose"])(
  "a form that sends %s twice is refused, because one value would be lost",
  async (name) => {
    const form = new FormData();
    form.append(name, "ada");
    form.append(name, "bob");
    form.set("file", new File(["x"], "a.txt"));
    expectRefusal(await target.send("POST", "/files", form), 400, "invalid_multipart", name);
  },
);

test("an invalid or repeated Idempotency-Key is refused by name", async () => {
  const body = JSON.stringify(say("x"));
  for (const key of ["", "a b", "x".repeat(256)])
    expectRefusal(
      await target.complete(body, { "idempotency-key": key }),
      400,
      "invalid_idempotency_key",
      "Idempotency-Key",
    );
  const twice = target.head(
    "POST /api/openai/v1/chat/completions",
    "Connection: close",
    "Content-Type: application/json",
    "Idempotency-Key: a",
    "Idempotency-Key: b",
    `Content-Length: ${body.length}`,
  );
  const { status, body: answer } = parsed(await target.raw(twice + body))!;
  expect([status, answer.error.param, answer.error.message]).toEqual([
    400,
    "Idempotency-Key",
    expect.stringContaining("sent once"),
  ]);
});

test.each(["http:127.0.0.1", "\thttp://a.example", "http://a.example/v 1", "http://a.example\n"])(
  "%j is not a valid address of a provider",
  async (base_url) => {
    const path = `${target.platform.url}/api/providers/odd`;
    const answer = await target.send("PUT", path, { api_key: "k", base_url }, session);
    expectRefusal(answer, 400, undefined, "base_url");
  },
);
