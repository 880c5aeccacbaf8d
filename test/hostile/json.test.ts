import { describe, expect, test } from "vitest";
import { chunksOf } from "../http/service.ts";
import { expectRefusal, leavesWell, say, startTarget } from "./target.ts";

const target = await startTarget();
leavesWell(() => target);

const good = JSON.stringify(say("fine"));
const within = (json: string) => `${good.slice(0, -1)},"metadata":${json}}`;

describe("a body that is not JSON, or exceeds a limit", () => {
  test.each([
    ["nothing but a bracket", "{"],
    ["a body cut short", good.slice(0, -1)],
    ["two bodies", good + good],
    ["a comment", `/* */${good}`],
    ["a byte order mark", `\ufeff${good}`],
    ["NaN", within("NaN")],
    ["single quotes", "{'model':'offline/echo'}"],
    ["a raw line break in a string", '{"model":"a\nb"}'],
    ["deep nesting of lists", within(`${"[".repeat(65)}${"]".repeat(65)}`)],
    ["deep nesting of objects", within(`${'{"a":'.repeat(100)}1${"}".repeat(100)}`)],
    ["brackets without end", "[".repeat(16_000_000)],
    ["250,001 tokens", `[${"1,".repeat(250_000)}1]`],
    ["2,000,000 keys", `{${Array.from({ length: 2_000_000 }, (_, n) => `"${n.toString(36)}":1`).join(",")}}`],
    ["__proto__", within('{"__proto__":{"polluted":1}}')],
    ["__proto__ at the top", `{"__proto__":{"polluted":1},${good.slice(1)}`],
    ["__proto__ escaped", within('{"\\u005f_proto__":{"polluted":1}}')],
    ["constructor.prototype", within('{"constructor":{"prototype":{"polluted":1}}}')],
  ])("%s", async (_name, body) => {
    const start = performance.now();
    expectRefusal(await target.complete(body), 400, "invalid_json", null);
    expect(performance.now() - start).toBeLessThan(20_000);
  });

  test.each([
    ["a byte of no character", [0xff]],
    ["a character too long", [0xc0, 0xaf]],
    ["half a pair", [0xed, 0xa0, 0x80]],
    ["a character cut short", [0xe2, 0x82]],
  ])("invalid UTF-8: %s", async (_name, bytes) => {
    const [before, after] = good.split("fine");
    const body = Buffer.concat([Buffer.from(before!), Buffer.from(bytes), Buffer.from(after!)]);
    expectRefusal(await target.complete(body), 400, "invalid_json", null);
  });

  test.each([
    ["nothing", ""],
    ["white space", " \n"],
    ["null", "null"],
    ["a list", "[]"],
    ["a string", '"x"'],
    ["a number", "1"],
  ])("%s is not a request", async (_name, body) => {
    const { status, body: refusal } = await target.complete(body);
    expect([status, refusal.error.type]).toEqual([400, "invalid_request_error"]);
  });

  test("no body at all is not a request", async () => {
    expectRefusal(await target.complete(undefined), 400, undefined, null);
  });

  test("brackets, quotes and keys within a string are plain text", async () => {
    const text = `${"[".repeat(10_000)}{"__proto__":{"constructor":{"prototype":1}}}\\"${"{".repeat(1_000)}`;
    const { status, body } = await target.complete(say(text));
    expect([status, body.choices[0].message.content]).toEqual([200, text]);
  });
});

describe("fields of a wrong type are never coerced", () => {
  test.each([
    ["model", 1],
    ["model", null],
    ["messages", "hello"],
    ["messages", { 0: { role: "user", content: "x" } }],
    ["temperature", "0.5"],
    ["temperature", true],
    ["top_p", "1"],
    ["max_tokens", "5"],
    ["max_tokens", 1.5],
    ["max_tokens", 0],
    ["max_tokens", -1],
    ["max_completion_tokens", "5"],
    ["seed", "7"],
    ["seed", 1e300],
    ["stop", 1],
    ["stop", [1]],
    ["stream", "true"],
    ["stream", 1],
    ["user", 1],
    ["user", ["ada"]],
    ["metadata", []],
    ["attachments", "id"],
  ])("%s: %j", async (field, value) => {
    const { status, body } = await target.complete(say("x", { [field]: value }));
    expect([status, body.error.code]).toEqual([400, null]);
    expect(body.error.param).toMatch(new RegExp(`^${field}`));
  });

  test.each(["1e400", "-1e400"])("a number out of range (%s)", async (number) => {
    const { status, body } = await target.complete(`${good.slice(0, -1)},"temperature":${number}}`);
    expect([status, body.error.param]).toEqual([400, "temperature"]);
  });

  test("unknown fields are ignored, whatever they contain", async () => {
    const odd = {
      n: "seven",
      logit_bias: [1],
      toString: 1,
      hasOwnProperty: null,
      constructor: "x",
      valueOf: {},
      then: 1,
    };
    expect((await target.complete(say("x", odd))).status).toBe(200);
    expect((await target.complete(within('{"constructor":1,"toString":"x","a":1e400}'))).status).toBeOneOf([200, 400]);
  });
});

describe("the content type", () => {
  test.each([
    "text/plain",
    "application/xml",
    "application/json x",
    "application/jsonx",
    "x",
    "/",
    "application/json, text/plain",
  ])("%s is not JSON", async (type) => {
    expectRefusal(await target.complete(good, { "content-type": type }), 415, "unsupported_media_type", null);
  });

  test.each([
    "application/json",
    "application/json; charset=utf-8",
    "APPLICATION/JSON",
    "application/json;charset=UTF-16",
    "application/json\ta",
    " application/json",
  ])("a body of the type %j is refused, or validated as JSON", async (type) => {
    const bad = JSON.stringify({ model: 1 });
    const ask = (body: string) =>
      target.raw(
        target.head(
          "POST /api/openai/v1/chat/completions",
          "Connection: close",
          `Content-Type: ${type}`,
          `Content-Length: ${body.length}`,
        ) + body,
      );
    expect(await ask(bad)).toMatch(/^HTTP\/1\.1 4(00|15) .*"error"/s);
    expect(await ask(good)).toMatch(/^HTTP\/1\.1 (200|415) /);
  });

  test("a form is refused", async () => {
    const { status, body } = await target.complete("--x--\r\n", { "content-type": "multipart/form-data; boundary=x" });
    expect([400, 415]).toContain(status);
    expect(body.error.type).toBe("invalid_request_error");
  });

  test("a request without a content type is refused", async () => {
    const answer = await target.raw(
      target.head("POST /api/openai/v1/chat/completions", "Connection: close", `Content-Length: ${good.length}`) + good,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 4(00|15) .*"error"/s);
  });
});

test("text with difficult characters is returned unchanged from every field of a thread", async () => {
  const odd = "a\u0000b \ud800 \udfff alone \u202e \uffff \ufeff 𝒳 \\u0000 \" ' -- \r\n";
  const metadata = { [odd]: odd, "a.b": { "": [odd] } };
  const parts = [
    { type: "text", text: odd },
    { type: "file", file: { file_data: "AAAA", filename: `${odd}.txt` } },
  ];
  const messages = [
    { role: "system", content: odd },
    { role: "user", content: odd, name: odd },
    { role: "assistant", content: odd },
    { role: "user", content: parts },
  ];
  const body = { model: "offline/echo", messages, user: odd, metadata, stop: [`${odd}${odd}`] };
  // not through fetch's own encoder, which would mend lone surrogates; JSON escapes them
  const first = await target.complete(JSON.stringify(body));
  expect(first.status).toBe(200);
  expect(first.body.choices[0].message.content.startsWith(odd)).toBe(true);
  const thread = { "x-thread-id": first.headers.get("x-thread-id")! };
  expect(
    (await target.complete(JSON.stringify({ ...say(odd), user: odd }), thread)).body.choices[0].message.content,
  ).toBe(odd);
  expectRefusal(
    await target.complete(JSON.stringify({ ...say(odd), user: odd.replace("\u0000", "") }), thread),
    404,
    "thread_not_found",
  );

  const streamed = await target.complete(JSON.stringify({ ...say(odd), stream: true }));
  const words = chunksOf(streamed.text).flatMap(({ choices }) => choices[0].delta.content ?? []);
  expect(words.join("")).toBe(odd);

  const own = await target.complete(JSON.stringify(say(odd)));
  const { data } = (await target.send("GET", `/threads/${own.headers.get("x-thread-id")}/messages`)).body;
  expect(data.map(({ content }: { content: string }) => content)).toEqual([odd, odd]);
});
