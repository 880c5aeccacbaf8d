import { setTimeout as wait } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Credential } from "#services/turns/model.ts";
import { asking, failed, file, finishOf, heard, textOf } from "#test/doubles/modelRequest.ts";
import { startProvider, type Provider } from "#test/doubles/provider.ts";
import { frame } from "#test/doubles/providerReply.ts";
import { openModels } from "./index.ts";

const KEY = "sk-test-canary-0123456789";
let provider: Provider;
beforeAll(async () => {
  provider = await startProvider();
});
beforeEach(() => {
  provider.script(() => undefined);
  provider.requests.length = 0;
});
afterAll(() => provider.close());

const models = openModels({ offline: false, privateHosts: [] });
const at = (base_url: string | null): Credential => ({ provider: "test", api_key: KEY, base_url, guarded: false });
const model = () => models.open(at(provider.url));
const sent = () => provider.requests.at(-1)!;
/** The next request may come before the pool has seen that the last one is done, so there can be two. */
const connections = () => new Set(provider.requests.map(({ connection }) => connection)).size;
const chunk = (delta: object, finish_reason: string | null = null) =>
  frame({ choices: [{ index: 0, delta, finish_reason }] });
const sse = { "content-type": "text/event-stream" };

describe.each([
  { way: "buffered", streamed: false },
  { way: "streamed", streamed: true },
])("$way", ({ streamed }) => {
  test("the text comes with its usage", async () => {
    provider.script({
      text: "Good day to you.",
      usage: {
        prompt_tokens: 20,
        completion_tokens: 9,
        prompt_tokens_details: { cached_tokens: 16 },
        completion_tokens_details: { reasoning_tokens: 4 },
      },
    });
    const events = await heard(model(), asking("Hello", { streamed }));
    expect(textOf(events)).toBe("Good day to you.");
    expect(events.filter(({ type }) => type === "text")).toHaveLength(streamed ? 4 : 1);
    expect(finishOf(events)).toEqual({
      type: "finish",
      finish_reason: "stop",
      usage: { prompt_tokens: 20, completion_tokens: 9, cached_tokens: 16, reasoning_tokens: 4 },
    });
  });

  test.each([
    ["stop", "stop"],
    ["length", "length"],
    ["content_filter", "content_filter"],
    ["tool_calls", "tool_calls"],
    ["function_call", "tool_calls"],
    ["eos_token", "stop"],
    ["constructor", "stop"],
  ])("the finish reason %s is %s", async (finish_reason, expected) => {
    provider.script({ finish_reason });
    expect(finishOf(await heard(model(), asking("Hello", { streamed }))).finish_reason).toBe(expected);
  });

  test.each([null, {}, "many", { prompt_tokens: -1, completion_tokens: 2 }])(
    "usage %j is replaced by a count",
    async (usage) => {
      provider.script({ usage, text: "one two three", reasoning: "let me think" });
      const { usage: counted } = finishOf(await heard(model(), asking("Hello there", { streamed })));
      expect(counted).toEqual({ prompt_tokens: 6, completion_tokens: 6, cached_tokens: 0, reasoning_tokens: 3 });
    },
  );

  test.each(["reasoning_content", "reasoning"] as const)("reasoning is read from %s", async (reasoning_field) => {
    provider.script({ reasoning: "Let me see.", reasoning_field, text: "Yes." });
    const events = await heard(model(), asking("Is it?", { streamed }));
    expect(events.slice(0, 2)).toEqual([
      { type: "reasoning", text: "Let me see." },
      { type: "text", text: "Yes." },
    ]);
  });

  test("consulted sources become citations, and others' annotations are left out", async () => {
    const url_citation = { url: "https://example.com/a", title: "A", start_index: 0, end_index: 4 };
    provider.script({
      annotations: [{ type: "url_citation", url_citation }, { type: "file_path", file_id: "f" }, null],
    });
    const events = await heard(model(), asking("Hello", { streamed }));
    expect(events).toContainEqual({ type: "citations", citations: [url_citation] });
  });

  test("a request carries what was asked for and nothing else", async () => {
    const schema = { type: "object", properties: { n: { type: "integer" } } };
    const response_format = { type: "json_schema" as const, json_schema: { name: "number", schema, strict: true } };
    const more = {
      instructions: "Be brief.",
      temperature: 0.5,
      top_p: 0.9,
      max_output_tokens: 50,
      stop: ["END"],
      seed: 7,
      user: "ann",
    };
    await heard(model(), asking("Hello", { ...more, response_format, streamed }));
    expect(sent().body).toEqual({
      model: "gpt-test",
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "Hello" },
      ],
      temperature: 0.5,
      top_p: 0.9,
      max_tokens: 50,
      stop: ["END"],
      seed: 7,
      user: "ann",
      response_format,
      stream: streamed,
      ...(streamed && { stream_options: { include_usage: true } }),
    });
    await heard(model(), asking("Hello", { streamed }));
    expect(Object.keys(sent().body).sort()).toEqual([
      "messages",
      "model",
      "stream",
      ...(streamed ? ["stream_options"] : []),
    ]);
  });

  test("images go as image_url and other files as file, behind the text", async () => {
    const files = [file("dot.png", "image/png", "PNG"), file("a.pdf", "application/pdf", "PDF")];
    await heard(model(), asking("What is this?", { streamed }, files));
    expect(sent().body.messages).toEqual([
      {
        role: "user",
        content: [
          { type: "text", text: "What is this?" },
          { type: "image_url", image_url: { url: "data:image/png;base64,UE5H" } },
          { type: "file", file: { filename: "a.pdf", file_data: "data:application/pdf;base64,UERG" } },
        ],
      },
    ]);
  });

  test.each([
    { status: 400, kind: "refused" },
    { status: 401, kind: "refused" },
    { status: 403, kind: "refused" },
    { status: 404, kind: "refused" },
    { status: 422, kind: "refused" },
    { status: 408, kind: "transient" },
    { status: 409, kind: "transient" },
    { status: 429, kind: "transient" },
    { status: 500, kind: "transient" },
    { status: 503, kind: "transient" },
    { status: 529, kind: "transient" },
  ])("status $status is $kind, asked for once", async ({ status, kind }) => {
    provider.script({ status, body: { error: { message: "no such luck", type: "x" } } });
    const { error, said } = await failed(model(), asking("Hello", { streamed }));
    expect(error).toMatchObject({ kind, status, message: `The provider answered ${status}: no such luck` });
    expect(said).toEqual([]);
    expect(provider.requests).toHaveLength(1);
  });

  test.each([
    ["3", 3_000],
    ["86400", 86_400_000],
    ["Thu, 01 Jan 2015 00:00:00 GMT", 0],
    ["soon", undefined],
  ])("Retry-After: %s", async (value, expected) => {
    provider.script({ status: 429, headers: { "retry-after": value } });
    const { error } = await failed(model(), asking("Hello", { streamed }));
    expect(error.retry_after_ms).toBe(expected);
  });

  test("a refusal that repeats the key does not show it", async () => {
    provider.script({ status: 401, body: { error: { message: `Incorrect API key provided: ${KEY}.` } } });
    const { error } = await failed(model(), asking("Hello", { streamed }));
    expect(error.message).toBe("The provider answered 401: Incorrect API key provided: [key].");
    expect(JSON.stringify([error, error.cause, error.stack])).not.toContain(KEY);
  });

  test.each(["not json at all", "", "<html>busy</html>", "null"])("a refusal with the body %j", async (body) => {
    provider.script({ status: 502, body });
    const { error } = await failed(model(), asking("Hello", { streamed }));
    expect(error).toMatchObject({ kind: "transient", status: 502 });
  });

  test("a refused connection may pass", async () => {
    const gone = await startProvider();
    await gone.close();
    const { error } = await failed(models.open(at(gone.url)), asking("Hello", { streamed }));
    expect(error).toMatchObject({ kind: "transient", message: "The provider could not be reached (ECONNREFUSED)." });
  });

  test("a connection that closes without an answer may pass", async () => {
    provider.script({ write: (response) => void response.destroy() });
    expect((await failed(model(), asking("Hello", { streamed }))).error.kind).toBe("transient");
  });

  test("a hang ends when it is no longer waited for", async () => {
    provider.script({ write: () => undefined });
    const controller = new AbortController();
    const answer = heard(model(), asking("Hello", { streamed }), controller.signal);
    while (provider.requests.length === 0) await wait(5);
    controller.abort(new Error("enough"));
    await expect(answer).rejects.toMatchObject({ name: "AbortError" });
  });

  test("an aborted request is not sent", async () => {
    await expect(heard(model(), asking("Hello", { streamed }), AbortSignal.abort())).rejects.toMatchObject({
      name: "AbortError",
    });
    expect(provider.requests).toEqual([]);
  });

  test("connections are used again", async () => {
    for (let n = 0; n < 20; n += 1) await heard(model(), asking("one two three", { streamed }));
    expect(connections()).toBeLessThanOrEqual(2);
  });

  test("only the headers that a provider needs are sent", async () => {
    await heard(model(), asking("Hello", { streamed }));
    const { authorization, ...others } = sent().headers;
    expect(authorization).toBe(`Bearer ${KEY}`);
    expect(Object.keys(others).filter((name) => name.startsWith("x-"))).toEqual([]);
  });
});

describe("a streamed answer that breaks off", () => {
  const streamed = asking("one two three", { streamed: true });

  test.each(["mid-event", "after-text", "end"] as const)("is cut (%s)", async (cut) => {
    provider.script({ cut });
    const { error, said } = await failed(model(), streamed);
    expect(error.kind).toBe("cut");
    expect(textOf(said)).toBe("one two three");
  });

  test("is whole when only the end mark is missing", async () => {
    provider.script({
      write: (response) => void response.writeHead(200, sse).end(chunk({ content: "Yes." }) + chunk({}, "stop")),
    });
    const events = await heard(model(), streamed);
    expect(textOf(events)).toBe("Yes.");
    expect(finishOf(events).usage.completion_tokens).toBe(2);
  });

  test("is whole when the connection breaks after the reason to finish", async () => {
    provider.script({
      write: (response) => {
        response.writeHead(200, sse);
        response.write(chunk({ content: "Yes." }) + chunk({}, "stop"), () => setTimeout(() => response.destroy(), 20));
      },
    });
    expect(finishOf(await heard(model(), streamed)).finish_reason).toBe("stop");
  });

  test.each([
    ["half JSON", Buffer.from('data: {"choices":[{"delta":\n\n')],
    ["an error object", Buffer.from(frame({ error: { message: `overloaded ${KEY}`, code: 503 } }))],
    ["an error event", Buffer.from(`event: error\n${frame({ message: "overloaded" })}`)],
  ])("is cut by %s", async (_, bytes) => {
    provider.script({
      write: (response) => {
        response.writeHead(200, sse);
        response.write(chunk({ content: "Well, " }));
        response.end(bytes);
      },
    });
    const { error, said } = await failed(model(), streamed);
    expect(error.kind).toBe("cut");
    expect(textOf(said)).toBe("Well, ");
    expect(error.message).not.toContain(KEY);
  });

  test("is cut by invalid UTF-8", async () => {
    provider.script({
      write: (response) => void response.writeHead(200, sse).end(Buffer.from(chunk({ content: "\u00ff" }), "latin1")),
    });
    expect((await failed(model(), streamed)).error).toMatchObject({
      kind: "cut",
      message: expect.stringContaining("invalid UTF-8"),
    });
  });

  test("is cut when it has no end, and the provider is told", async () => {
    let closed = false;
    provider.script({
      write: (response) => {
        response.writeHead(200, sse);
        response.on("close", () => (closed = true));
        const endless = chunk({ content: "a".repeat(100_000) });
        const more = () => {
          while (!response.destroyed && response.write(endless)) continue;
        };
        response.on("drain", more);
        more();
      },
    });
    const { error, said } = await failed(model(), streamed);
    expect(error).toMatchObject({ kind: "cut", message: "The provider's answer had no end." });
    expect(textOf(said).length).toBeLessThanOrEqual(8 * 1024 * 1024);
    while (!closed) await wait(5);
  });

  test("ends at the provider when its reader leaves", async () => {
    let closed = false;
    provider.script({
      write: (response) => {
        response.writeHead(200, sse).write(chunk({ content: "Well, " }));
        response.on("close", () => (closed = true));
      },
    });
    for await (const event of model().complete(streamed, new AbortController().signal)) {
      expect(event).toEqual({ type: "text", text: "Well, " });
      break;
    }
    while (!closed) await wait(5);
  });

  test("ends with an AbortError when it is stopped in the middle", async () => {
    provider.script({ write: (response) => void response.writeHead(200, sse).write(chunk({ content: "Well, " })) });
    const controller = new AbortController();
    const answer = async () => {
      for await (const _ of model().complete(streamed, controller.signal)) controller.abort();
    };
    await expect(answer()).rejects.toMatchObject({ name: "AbortError" });
  });
});

describe("characters split between two packets", () => {
  test("arrive whole", async () => {
    provider.script({
      write: async (response) => {
        response.writeHead(200, sse);
        const bytes = Buffer.from(chunk({ content: "größer 🎈 日本" }) + chunk({}, "stop"));
        for (const byte of bytes) {
          response.write(Buffer.of(byte));
          if (byte >= 0x80) await wait(1);
        }
        response.end();
      },
    });
    expect(textOf(await heard(model(), asking("?", { streamed: true })))).toBe("größer 🎈 日本");
  });
});

describe("a buffered answer", () => {
  const buffered = asking("Hello");

  test.each(["{}", '"hello"', "[]", "null"])("that is %s is no chat completion", async (body) => {
    provider.script({ status: 200, body });
    expect((await failed(model(), buffered)).error.kind).toBe("refused");
  });

  test("that is a page is no chat completion", async () => {
    provider.script({ status: 200, headers: { "content-type": "text/html" }, body: "<h1>Welcome</h1>" });
    expect((await failed(model(), buffered)).error.kind).toBe("refused");
  });

  test.each(['{"choices":[{"message":{"content":"Wel', '{"choices":[]}'])("that is %s is cut", async (body) => {
    provider.script({ status: 200, body });
    expect((await failed(model(), buffered)).error.kind).toBe("cut");
  });

  test("whose connection breaks is cut", async () => {
    provider.script({
      write: (response) => {
        response.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
        response.write('{"choices":', () => response.destroy());
      },
    });
    expect((await failed(model(), buffered)).error.kind).toBe("cut");
  });

  test("may say its text in parts, or why it will not", async () => {
    const content = [{ type: "text", text: "Good " }, { type: "text", text: "day" }, { type: "thinking" }];
    provider.script({ status: 200, body: { choices: [{ message: { content }, finish_reason: "stop" }] } });
    expect(textOf(await heard(model(), buffered))).toBe("Good day");
    provider.script({
      status: 200,
      body: { choices: [{ message: { content: null, refusal: "I can not." }, finish_reason: "stop" }] },
    });
    expect(textOf(await heard(model(), buffered))).toBe("I can not.");
  });
});

test.each([null, "", "not an address", "ftp://example.com/v1", "http://"])(
  "with the address %j nothing is sent",
  async (base_url) => {
    const { error } = await failed(models.open(at(base_url)), asking("Hello"));
    expect(error).toMatchObject({ kind: "refused", message: "The provider test has no usable address." });
  },
);

test.each(["", "sk-\n", "sk key", "schlüssel"])("the key %j is not sent", async (api_key) => {
  const { error } = await failed(models.open({ ...at(provider.url), api_key }), asking("Hello"));
  expect(error.kind).toBe("refused");
  expect(provider.requests).toEqual([]);
});

test("a private address that a tenant named is refused without a request", async () => {
  const { error } = await failed(models.open({ ...at(provider.url), guarded: true }), asking("Hello"));
  expect(error).toMatchObject({ kind: "refused", message: "The provider's address is not allowed here." });
  expect(provider.requests).toEqual([]);
});

test.each([true, false])("a private address that the deployment opened answers (streamed: %s)", async (streamed) => {
  const { host } = new URL(provider.url);
  const opened = openModels({ offline: false, privateHosts: [host] }).open({ ...at(provider.url), guarded: true });
  for (let n = 0; n < 20; n += 1)
    expect(textOf(await heard(opened, asking("Hello there", { streamed })))).toBe("Hello there");
  expect(connections()).toBeLessThanOrEqual(2);
});
