import { setTimeout as wait } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Credential, ModelEvent } from "#services/turns/model.ts";
import { startGoogle, type GoogleDouble, type Reply } from "#test/doubles/google.ts";
import { event, sse, USAGE } from "#test/doubles/google/reply.ts";
import { asking, failed, finishOf, heard, textOf } from "#test/doubles/modelRequest.ts";
import { openModels } from "./index.ts";

/* What Google answers, piece by piece. */

const KEY = "AIza-canary-0123456789";
let google: GoogleDouble;
beforeAll(async () => {
  google = await startGoogle();
});
beforeEach(() => {
  google.script(() => undefined);
  google.requests.length = 0;
});
afterAll(() => google.close());

const models = openModels({ offline: false, privateHosts: [] });
const at = (base_url: string | null, api_key = KEY): Credential => ({
  provider: "google",
  api_key,
  base_url,
  guarded: false,
});
const model = () => models.open(at(google.url));
const ask = (text: string, more: Parameters<typeof asking>[1] = {}) => asking(text, { model: "gemini-4-pro", ...more });
const reasoningOf = (events: ModelEvent[]) =>
  events.map((said) => (said.type === "reasoning" ? said.text : "")).join("");
const posts = () => google.requests.filter(({ method }) => method === "POST");
/** Only for requests to generate. */
const answers = (reply: Reply) => google.script(({ method }) => (method === "POST" ? reply : undefined));
const says = (text: string) => event({ candidates: [{ content: { role: "model", parts: [{ text }] }, index: 0 }] });
const ends = (finishReason: string) => event({ candidates: [{ finishReason, index: 0 }], usageMetadata: USAGE });

describe.each([
  { way: "buffered", streamed: false },
  { way: "streamed", streamed: true },
])("$way", ({ streamed }) => {
  test("text and thoughts come with their usage", async () => {
    google.answers({
      parts: [{ thought: "Somebody greets me, so I greet them." }, { text: "Good day to you." }],
      usage: {
        promptTokenCount: 20,
        candidatesTokenCount: 5,
        thoughtsTokenCount: 4,
        cachedContentTokenCount: 16,
        toolUsePromptTokenCount: 100,
        totalTokenCount: 129,
      },
    });
    const events = await heard(model(), ask("Hello", { streamed }));
    expect(textOf(events)).toBe("Good day to you.");
    expect(reasoningOf(events)).toBe("Somebody greets me, so I greet them.");
    expect(events.filter(({ type }) => type === "text")).toHaveLength(streamed ? 4 : 1);
    expect(events.filter(({ type }) => type === "reasoning")).toHaveLength(streamed ? 4 : 1);
    expect(finishOf(events)).toEqual({
      type: "finish",
      finish_reason: "stop",
      usage: { prompt_tokens: 120, completion_tokens: 9, cached_tokens: 16, reasoning_tokens: 4 },
    });
  });

  test.each([
    ["STOP", "stop"],
    ["OTHER", "stop"],
    ["LANGUAGE", "stop"],
    ["TOO_MANY_TOOL_CALLS", "stop"],
    ["MAX_TOKENS", "length"],
    ["SAFETY", "content_filter"],
    ["RECITATION", "content_filter"],
    ["BLOCKLIST", "content_filter"],
    ["PROHIBITED_CONTENT", "content_filter"],
    ["SPII", "content_filter"],
    ["YET_UNKNOWN", "stop"],
    ["constructor", "stop"],
  ])("the finish reason %s is %s", async (finishReason, expected) => {
    google.answers({ finishReason });
    expect(finishOf(await heard(model(), ask("Hello", { streamed }))).finish_reason).toBe(expected);
  });

  test.each(["MALFORMED_FUNCTION_CALL", "MALFORMED_RESPONSE", "UNEXPECTED_TOOL_CALL"])(
    "the finish reason %s is no answer",
    async (finishReason) => {
      google.answers({ parts: [], finishReason });
      const { error } = await failed(model(), ask("Hello", { streamed }));
      expect(error).toMatchObject({ kind: "cut", message: expect.stringContaining(finishReason) });
    },
  );

  test("a question that is blocked comes to nothing", async () => {
    google.answers({ blockReason: "PROHIBITED_CONTENT", usage: { promptTokenCount: 5 } });
    expect(await heard(model(), ask("Hello", { streamed }))).toEqual([
      {
        type: "finish",
        finish_reason: "content_filter",
        usage: { prompt_tokens: 5, completion_tokens: 0, cached_tokens: 0, reasoning_tokens: 0 },
      },
    ]);
  });

  test.each([null, {}, { promptTokenCount: -1, candidatesTokenCount: 2 }])(
    "usage %j is replaced by a count",
    async (usage) => {
      google.answers({ usage, parts: [{ thought: "let me think" }, { text: "one two three" }] });
      const { usage: counted } = finishOf(await heard(model(), ask("Hello there", { streamed })));
      expect(counted).toEqual({ prompt_tokens: 6, completion_tokens: 6, cached_tokens: 0, reasoning_tokens: 3 });
    },
  );

  test.each(["whole", "bytes", "odd"] as const)("the bytes may come in pieces (%s)", async (pieces) => {
    google.answers({ pieces, parts: [{ thought: "größer?" }, { text: "größer 🎈 日本\n\ndata: 5" }] });
    const events = await heard(model(), ask("?", { streamed }));
    expect([reasoningOf(events), textOf(events)]).toEqual(["größer?", "größer 🎈 日本\n\ndata: 5"]);
  });

  test("the pages that it read are cited, with their titles where they are told", async () => {
    google.answers({
      parts: [{ text: "They agree." }],
      pages: [
        { url: "https://example.com/a", title: "A" },
        { url: "https://example.com/b" },
        { url: "https://example.com/c", status: "URL_RETRIEVAL_STATUS_PAYWALL" },
        { url: "https://example.com/a", title: "A" },
      ],
    });
    const events = await heard(model(), ask("Compare", { streamed }));
    expect(events.at(-2)).toEqual({
      type: "citations",
      citations: [
        { url: "https://example.com/a", title: "A", start_index: 0, end_index: 11 },
        { url: "https://example.com/b", title: "https://example.com/b", start_index: 0, end_index: 11 },
      ],
    });
  });

  test("an answer that is too long for one request goes on in another", async () => {
    google.answers({ parts: [{ text: "One " }], continuationToken: "dG9rZW4=" }, { parts: [{ text: "two." }] });
    const events = await heard(model(), ask("Count", { streamed }));
    expect(textOf(events)).toBe("One two.");
    expect(finishOf(events)).toMatchObject({
      finish_reason: "stop",
      usage: { prompt_tokens: 24, completion_tokens: 14 },
    });
    expect(google.asked().map(({ continuationToken }) => continuationToken)).toEqual([undefined, "dG9rZW4="]);
  });

  test("an answer that goes on without end is cut", async () => {
    let n = 0;
    google.script(({ method }) => (method === "POST" ? { parts: [], continuationToken: `token-${n++}` } : undefined));
    const { error } = await failed(model(), ask("Count", { streamed }));
    expect(error).toMatchObject({ kind: "cut", message: "The provider's answer had no end." });
    expect(posts().length).toBeLessThan(50);
  });

  test.each([
    [400, "refused"],
    [401, "refused"],
    [403, "refused"],
    [404, "refused"],
    [429, "transient"],
    [500, "transient"],
    [503, "transient"],
    [504, "transient"],
  ] as const)("status %i is %s, asked for once", async (code, kind) => {
    answers({ status: code, body: { error: { code, message: "no such luck", status: "X" } } });
    const { error, said } = await failed(model(), ask("Hello", { streamed }));
    expect(error).toMatchObject({ kind, status: code, message: `The provider answered ${code}: no such luck` });
    expect(said).toEqual([]);
    expect(posts()).toHaveLength(1);
  });

  test.each(["not json at all", "", "<html>busy</html>", "null", "[]"])("a refusal with the body %j", async (body) => {
    answers({ status: 502, body });
    expect((await failed(model(), ask("Hello", { streamed }))).error).toMatchObject({ kind: "transient", status: 502 });
  });

  test("a refusal in a list is read too, and does not repeat the key", async () => {
    answers({ status: 403, body: [{ error: { code: 403, message: `The key ${KEY} may not.` } }] });
    const { error } = await failed(model(), ask("Hello", { streamed }));
    expect(error.message).toBe("The provider answered 403: The key [key] may not.");
    expect(JSON.stringify([error, error.cause, error.stack])).not.toContain(KEY);
  });

  test.each([
    ["in the body", {}, "13.5s", 13_500],
    ["in the head", { "retry-after": "3" }, "13.5s", 3_000],
    ["in no words that can be read", {}, "soon", undefined],
  ])("a refusal tells how long to wait %s", async (_, headers, retryDelay, expected) => {
    const details = [
      { "@type": "type.googleapis.com/google.rpc.Help", links: [] },
      { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay },
    ];
    answers({
      status: 429,
      headers,
      body: { error: { code: 429, message: "Quota", status: "RESOURCE_EXHAUSTED", details } },
    });
    expect((await failed(model(), ask("Hello", { streamed }))).error.retry_after_ms).toBe(expected);
  });

  test("a key that is none is refused as the provider says", async () => {
    const { error } = await failed(models.open(at(google.url, "wrong")), ask("Hello", { streamed }));
    expect(error).toMatchObject({
      kind: "refused",
      status: 400,
      message: "The provider answered 400: API key not valid. Please pass a valid API key.",
    });
  });

  test("a hang ends when it is no longer waited for", async () => {
    answers({ write: () => undefined });
    const controller = new AbortController();
    const answer = heard(model(), ask("Hello", { streamed }), controller.signal);
    while (posts().length === 0) await wait(5);
    controller.abort(new Error("enough"));
    await expect(answer).rejects.toMatchObject({ name: "AbortError" });
  });

  test("connections are used again", async () => {
    for (let n = 0; n < 20; n += 1) await heard(model(), ask("one two three", { streamed }));
    expect(new Set(google.requests.map(({ connection }) => connection)).size).toBeLessThanOrEqual(3);
  });

  test("an error within the stream breaks the answer off", async () => {
    google.answers({
      parts: [{ text: "Well, " }],
      error: { code: 503, status: "UNAVAILABLE", message: `The model is overloaded. ${KEY}` },
    });
    const { error, said } = await failed(model(), ask("Hello", { streamed }));
    expect(error).toMatchObject({ kind: "cut", message: "The provider broke off: The model is overloaded. [key]" });
    expect(textOf(said)).toBe(streamed ? "Well, " : "");
  });

  test.each(["mid-event", "after-parts", "end"] as const)("an answer that ends too early is cut (%s)", async (cut) => {
    google.answers({ cut });
    expect((await failed(model(), ask("one two three", { streamed }))).error.kind).toBe("cut");
  });
});

describe("a streamed answer", () => {
  const streamed = ask("Hello", { streamed: true });

  test.each(["end", "destroy", "open"])("is whole once there is a reason to finish (then: %s)", async (after) => {
    answers({
      write: (response) => {
        response.writeHead(200, sse).write(says("Yes.") + ends("STOP"), () => {
          if (after === "end") response.end();
          if (after === "destroy") setTimeout(() => response.destroy(), 20);
        });
      },
    });
    const events = await heard(model(), streamed);
    expect(textOf(events)).toBe("Yes.");
    expect(finishOf(events).finish_reason).toBe("stop");
  });

  test.each([
    {},
    { candidates: [null] },
    { candidates: [{ content: { parts: "no" }, index: 0 }] },
    { candidates: [{ content: { parts: [null, 5, { light: 5 }, { text: 5 }, { functionCall: {} }] }, index: 0 }] },
  ])("skips what nobody knows: %j", async (unknown) => {
    answers({
      write: (response) => void response.writeHead(200, sse).end(event(unknown) + says("Yes.") + ends("STOP")),
    });
    expect(textOf(await heard(model(), streamed))).toBe("Yes.");
  });

  test.each([
    ["half JSON", Buffer.from('data: {"candidates":\r\n\r\n')],
    ["invalid UTF-8", Buffer.from(says("\u00ff"), "latin1")],
    ["a page", Buffer.from("<h1>Welcome</h1>")],
  ])("is cut by %s", async (_, bytes) => {
    answers({
      write: (response) => {
        response.writeHead(200, sse).write(says("Well, "));
        setTimeout(() => response.end(bytes), 20);
      },
    });
    const { error, said } = await failed(model(), streamed);
    expect([error.kind, textOf(said)]).toEqual(["cut", "Well, "]);
  });

  test("is cut when it has no end, and the provider is told", async () => {
    let closed = false;
    answers({
      write: (response) => {
        response.writeHead(200, sse).on("close", () => (closed = true));
        const endless = says("a".repeat(100_000));
        const more = () => {
          while (!response.destroyed && response.write(endless)) continue;
        };
        response.on("drain", more);
        more();
      },
    });
    const { error } = await failed(model(), streamed);
    expect(error).toMatchObject({ kind: "cut", message: "The provider's answer had no end." });
    while (!closed) await wait(5);
  });

  test("ends at the provider when its reader leaves", async () => {
    let closed = false;
    answers({
      write: (response) => {
        response.on("close", () => (closed = true));
        response.writeHead(200, sse).write(says("Well, "));
      },
    });
    for await (const said of model().complete(streamed, new AbortController().signal)) {
      expect(said).toEqual({ type: "text", text: "Well, " });
      break;
    }
    while (!closed) await wait(5);
  });
});
