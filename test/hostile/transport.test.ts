import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, test } from "vitest";
import { expectRefusal, leavesWell, parsed, say, startTarget } from "./target.ts";

const target = await startTarget();
leavesWell(() => target, afterEach);

const PATH = "/api/openai/v1/chat/completions";
const MIB = 1024 * 1024;
const body = JSON.stringify(say("x"));
const json = "Content-Type: application/json";
const shape = { error: { message: expect.any(String), type: "invalid_request_error", param: null, code: null } };

describe("a body that is too large", () => {
  test.each([
    ["67108865", 413, "request_too_large"],
    ["1000000000000", 413, "request_too_large"],
    ["99999999999999999999", 400, null],
  ])("is refused by its declared length: %s", async (length, status, code) => {
    const answer = parsed(await target.raw(target.head(`POST ${PATH}`, json, `Content-Length: ${length}`)));
    expect(answer).toEqual({ status, body: { error: { ...shape.error, code } } });
  });

  test("is cut off when it comes in chunks and never ends", async () => {
    const { socket, received, closed } = target.open(target.head(`POST ${PATH}`, json, "Transfer-Encoding: chunked"));
    const chunk = Buffer.concat([Buffer.from("100000\r\n"), Buffer.alloc(MIB, " "), Buffer.from("\r\n")]);
    for (let sent = 0; sent < 80 && !socket.destroyed && received() === ""; sent++)
      await new Promise<void>((next) => socket.write(chunk, () => next()));
    await closed;
    const answer = parsed(received());
    if (answer) expect(answer).toMatchObject({ status: 413, body: { error: { code: "request_too_large" } } });
  });

  test("is refused at 1 MiB outside the chat API", async () => {
    const large = { email: "a@b.example", password: "x".repeat(MIB) };
    expectRefusal(await target.send("POST", `${target.platform.url}/api/auth/login`, large), 413, "request_too_large");
  });
});

describe("invalid HTTP, or two requests in one", () => {
  const post = (...headers: string[]) => target.head(`POST ${PATH}`, json, ...headers);
  const get = (...lines: string[]) => [...lines, "", ""].join("\r\n");
  const chunked = "Transfer-Encoding: chunked";
  const smuggled = `GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n`;
  const attacks: [string, () => string][] = [
    ["Content-Length and chunked", () => post("Content-Length: 4", chunked) + `0\r\n\r\n${smuggled}`],
    ["chunked and Content-Length", () => post(chunked, "Content-Length: 4") + `0\r\n\r\n${smuggled}`],
    ["two different lengths", () => post("Content-Length: 2", "Content-Length: 3") + "{}"],
    ["two equal lengths", () => post("Content-Length: 2", "Content-Length: 2") + "{}"],
    ["a list of lengths", () => post("Content-Length: 2, 2") + "{}"],
    ["a length with a sign", () => post("Content-Length: +2") + "{}"],
    ["a negative length", () => post("Content-Length: -2") + "{}"],
    ["a length in hex", () => post("Content-Length: 0x2") + "{}"],
    ["an unknown transfer coding", () => post("Transfer-Encoding: xchunked") + `0\r\n\r\n${smuggled}`],
    ["a transfer coding after chunked", () => post("Transfer-Encoding: chunked, identity") + `0\r\n\r\n${smuggled}`],
    ["two Transfer-Encoding headers", () => post(chunked, "Transfer-Encoding: identity") + `0\r\n\r\n${smuggled}`],
    ["a coding in quotes", () => post('Transfer-Encoding: "chunked"') + `0\r\n\r\n${smuggled}`],
    ["a space before the colon", () => post("Transfer-Encoding : chunked") + `0\r\n\r\n${smuggled}`],
    ["a header folded over lines", () => post("Transfer-Encoding:\r\n chunked") + `0\r\n\r\n${smuggled}`],
    ["chunks ended by LF only", () => post(chunked) + `2\n{}\n0\n\n${smuggled}`],
    ["a chunk size that is not a number", () => post(chunked) + "zz\r\n{}\r\n0\r\n\r\n"],
    ["a chunk size with a sign", () => post(chunked) + "+2\r\n{}\r\n0\r\n\r\n"],
    ["a chunk that is longer than it says", () => post(chunked) + "2\r\n{}}}\r\n0\r\n\r\n"],
    ["a chunk size of 40 digits", () => post(chunked) + `${"f".repeat(40)}\r\n`],
    ["no Host header", () => get("GET /healthz HTTP/1.1")],
    ["a NUL in a header", () => get("GET /healthz HTTP/1.1", "Host: x", "X: a\0b")],
    ["a line without a colon", () => get("GET /healthz HTTP/1.1", "Host: x", "nothing")],
    ["a CR within a line", () => get("GET /healthz HTTP/1.1", "Host: x", "X: a\rb")],
    ["an empty header name", () => get("GET /healthz HTTP/1.1", "Host: x", ": x")],
    ["a space in the path", () => get("GET /heal thz HTTP/1.1", "Host: x")],
    ["an unknown HTTP version", () => get("GET /healthz HTTP/9.9", "Host: x")],
    ["an unknown method", () => get("FROB /healthz HTTP/1.1", "Host: x")],
    ["the start of TLS", () => "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"],
    ["the preface of HTTP/2", () => "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
    ["a line that is not HTTP", () => "hello\r\n\r\n"],
  ];

  test.each(attacks)("%s gets a 400 in the spec's shape or a closed connection", async (_name, bytes) => {
    const received = await target.raw(Buffer.from(bytes(), "latin1"));
    // one answer at most: what follows a bad request is no request
    expect(received.match(/HTTP\/1\.1 /g)?.length ?? 0).toBeLessThanOrEqual(1);
    const answer = parsed(received);
    if (answer) expect(answer).toEqual({ status: 400, body: shape });
  });

  test("two Host headers are refused, or treated as one if equal", async () => {
    const received = await target.raw(get("GET /healthz HTTP/1.1", "Host: x", "Host: evil", "Connection: close"));
    expect(received).toMatch(/^HTTP\/1\.1 (200|400) /);
    expect(received).not.toContain("evil");
  });

  test("pipelined requests on one connection are answered in order", async () => {
    const one = (words: string) => {
      const asked = JSON.stringify(say(words));
      return target.head(`POST ${PATH}`, json, `Content-Length: ${asked.length}`) + asked;
    };
    const received = await target.raw(one("first") + one("second") + target.head("GET /healthz", "Connection: close"));
    expect(received.match(/HTTP\/1\.1 200 /g)).toHaveLength(3);
    expect(received.indexOf("first")).toBeLessThan(received.indexOf("second"));
  });
});

describe("a request:", () => {
  test.each([
    "/",
    "/nowhere",
    "/%zz",
    "/api/openai/v1/models/%zz",
    "/api/openai/v1/../../../etc/passwd",
    "/api/openai/v1/files/%00",
    "/api/openai/v1/files/..%2f..%2fetc%2fpasswd",
    "/__proto__",
    "/constructor",
    `/${"a/".repeat(3_000)}`,
    "//evil.example/x",
    "/api/openai/v1/threads/%F0%9F/messages",
    "http://evil.example/api",
    "*",
  ])("the path %s is not found", async (path) => {
    const answer = parsed(await target.raw(target.head(`GET ${path}`, "Connection: close")))!;
    expect([400, 404]).toContain(answer.status);
    expect(answer.body.error).toMatchObject({ message: expect.any(String), type: expect.stringMatching(/_error$/) });
  });

  test.each(["PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND"])("the method %s is refused", async (method) => {
    const answer = parsed(
      await target.raw(target.head(`${method} ${PATH}`, "Connection: close", "Content-Length: 0")),
    )!;
    expect([400, 404, 405]).toContain(answer.status);
    expect(answer.body.error.message).toBeTruthy();
  });

  test("CONNECT and a protocol upgrade are refused or ignored", async () => {
    expect(await target.raw("CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example:443\r\n\r\n")).toMatch(
      /^(HTTP\/1\.1 40|$)/,
    );
    const received = await target.raw(target.head("GET /healthz", "Connection: Upgrade, close", "Upgrade: websocket"));
    expect(received).toMatch(/^(HTTP\/1\.1 (200|400) |$)/);
  });

  test("an odd query is ignored or refused", async () => {
    for (const query of [
      "user=a&user=b",
      "user[]=a",
      "user[a]=b",
      "__proto__=1",
      "user=%ff",
      "user=%00",
      `user=${"u".repeat(8_000)}`,
      "&&&=",
      "%",
    ]) {
      const { status, body } = await target.send("GET", `/files?${query}`);
      expect([200, 400]).toContain(status);
      expect(status === 200 ? body.data : body.error.type).toEqual(status === 200 ? [] : "invalid_request_error");
    }
  });
});

describe("clients that are slow or disconnect", () => {
  test("block nobody with half a head, half a body or half a chunk", async () => {
    const begun = target.head(`POST ${PATH}`, json, `Content-Length: ${body.length}`);
    const halves = [
      "POST /api",
      begun.slice(0, -4),
      begun + body.slice(0, 10),
      target.head(`POST ${PATH}`, json, "Transfer-Encoding: chunked") + "ff\r\n{",
    ];
    const slow = halves.flatMap((bytes) => Array.from({ length: 25 }, () => target.open(bytes)));
    for (let n = 0; n < 5; n++) await target.isWell();
    const late = target.open(begun + body.slice(0, 10));
    await sleep(300);
    late.socket.write(body.slice(10));
    await expect.poll(late.received).toContain("HTTP/1.1 200 ");
    for (const { socket } of [...slow, late]) socket.destroy();
  });

  test("do not affect others when they disconnect at any point", async () => {
    const streamed = JSON.stringify(say("/slow 0.05\n/say a b c d e f", { model: "offline/scripted", stream: true }));
    const head = target.head(`POST ${PATH}`, json, `Content-Length: ${streamed.length}`);
    for (const after of [0, 20, 60, 120]) {
      const { socket } = target.open(head + streamed);
      await sleep(after);
      socket.resetAndDestroy();
    }
    await sleep(100);
  });

  test("that read nothing do not delay the answers of others", async () => {
    const long = JSON.stringify(
      say(`/say ${"words and more ".repeat(200_000)}`, { model: "offline/scripted", stream: true }),
    );
    const { socket } = target.open("");
    socket.pause();
    socket.write(target.head(`POST ${PATH}`, json, `Content-Length: ${long.length}`) + long);
    for (let n = 0; n < 5; n++) await target.isWell();
    socket.destroy();
  });
});
