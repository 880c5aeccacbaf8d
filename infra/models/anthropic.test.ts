import { setTimeout as wait } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Credential } from "#services/turns/model.ts";
import { startAnthropic, type AnthropicDouble } from "#test/doubles/anthropic.ts";
import { event, sse, USAGE } from "#test/doubles/anthropic/reply.ts";
import { asking, failed, finishOf, heard, textOf } from "#test/doubles/modelRequest.ts";
import { openModels } from "./index.ts";

/* What Anthropic answers, event by event. */

const KEY = "sk-ant-canary-0123456789";
let anthropic: AnthropicDouble;
beforeAll(async () => {
  anthropic = await startAnthropic();
});
beforeEach(() => {
  anthropic.script(() => undefined);
  anthropic.requests.length = 0;
});
afterAll(() => anthropic.close());

const models = openModels({ offline: false, privateHosts: [] });
const at = (base_url: string | null, api_key = KEY): Credential => ({
  provider: "anthropic",
  api_key,
  base_url,
  guarded: false,
});
const model = () => models.open(at(anthropic.url));
const ask = (text: string, more: Parameters<typeof asking>[1] = {}) =>
  asking(text, { model: "claude-opus-5", ...more });
const reasoningOf = (events: { type: string; text?: string }[]) =>
  events.map(({ type, text }) => (type === "reasoning" ? text : "")).join("");
const posts = () => anthropic.requests.filter(({ method }) => method === "POST");
const start = event("message_start", { message: { usage: USAGE } });
const says = (text: string) =>
  event("content_block_start", { index: 0, content_block: { type: "text", text: "" } }) +
  event("content_block_delta", { index: 0, delta: { type: "text_delta", text } });
const ends = (stop_reason: string) => event("message_delta", { delta: { stop_reason }, usage: USAGE });
const writes = (text: string, after: "end" | "destroy" | "open" = "end") =>
  anthropic.script(({ method }) =>
    method === "GET"
      ? undefined
      : {
          write: (response) => {
            response.writeHead(200, sse).write(text, () => {
              if (after === "end") response.end();
              if (after === "destroy") setTimeout(() => response.destroy(), 20);
            });
          },
        },
  );

describe.each([
  { way: "buffered", streamed: false },
  { way: "streamed", streamed: true },
])("$way", ({ streamed }) => {
  test("text and thoughts come with their usage", async () => {
    anthropic.answers({
      blocks: [{ thinking: "Somebody greets me, so I greet them." }, { text: "Good day to you." }],
      usage: {
        input_tokens: 20,
        cache_creation_input_tokens: 100,
        cache_read_input_tokens: 16,
        output_tokens: 9,
        output_tokens_details: { thinking_tokens: 4 },
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
      usage: { prompt_tokens: 136, completion_tokens: 9, cached_tokens: 16, reasoning_tokens: 4 },
    });
  });

  test.each([
    ["end_turn", "stop"],
    ["stop_sequence", "stop"],
    ["pause_turn", "stop"],
    ["max_tokens", "length"],
    ["model_context_window_exceeded", "length"],
    ["refusal", "content_filter"],
    ["tool_use", "tool_calls"],
    ["yet_unknown", "stop"],
    ["constructor", "stop"],
  ])("the stop reason %s is %s", async (stop_reason, expected) => {
    anthropic.answers({ stop_reason });
    expect(finishOf(await heard(model(), ask("Hello", { streamed }))).finish_reason).toBe(expected);
  });

  test.each([null, {}, { input_tokens: -1, output_tokens: 2 }])("usage %j is replaced by a count", async (usage) => {
    anthropic.answers({ usage, blocks: [{ thinking: "let me think" }, { text: "one two three" }] });
    const { usage: counted } = finishOf(await heard(model(), ask("Hello there", { streamed })));
    expect(counted).toEqual({ prompt_tokens: 6, completion_tokens: 6, cached_tokens: 0, reasoning_tokens: 3 });
  });

  test.each(["whole", "bytes", "odd"] as const)("the bytes may come in pieces (%s)", async (pieces) => {
    anthropic.answers({ pieces, blocks: [{ thinking: "größer?" }, { text: "größer 🎈 日本" }] });
    const events = await heard(model(), ask("?", { streamed }));
    expect([reasoningOf(events), textOf(events)]).toEqual(["größer?", "größer 🎈 日本"]);
  });

  test("blocks that others stand between are set apart, and what goes on is not", async () => {
    anthropic.answers({
      blocks: [
        { text: "One" },
        { text: "." },
        { redacted: "xyz" },
        { text: "Two." },
        { thinking: "A" },
        { thinking: "B" },
      ],
    });
    const events = await heard(model(), ask("?", { streamed }));
    expect([textOf(events), reasoningOf(events)]).toEqual(["One.\n\nTwo.", "A\n\nB"]);
  });

  test.each([
    [400, "refused"],
    [401, "refused"],
    [403, "refused"],
    [404, "refused"],
    [413, "refused"],
    [429, "transient"],
    [500, "transient"],
    [504, "transient"],
    [529, "transient"],
  ] as const)("status %i is %s, asked for once", async (status, kind) => {
    const body = { type: "error", error: { type: "x", message: "no such luck" }, request_id: "req_1" };
    anthropic.script({ status, body });
    const { error, said } = await failed(model(), ask("Hello", { streamed }));
    expect(error).toMatchObject({ kind, status, message: `The provider answered ${status}: no such luck` });
    expect(said).toEqual([]);
    expect(posts()).toHaveLength(1);
  });

  test.each(["not json at all", "", "<html>busy</html>", "null"])("a refusal with the body %j", async (body) => {
    anthropic.script({ status: 502, body });
    expect((await failed(model(), ask("Hello", { streamed }))).error).toMatchObject({ kind: "transient", status: 502 });
  });

  test("a refusal tells how long to wait, and does not repeat the key", async () => {
    const body = { type: "error", error: { type: "rate_limit_error", message: `too many for ${KEY}` } };
    anthropic.script({ status: 429, headers: { "retry-after": "3", "x-should-retry": "true" }, body });
    const { error } = await failed(model(), ask("Hello", { streamed }));
    expect(error).toMatchObject({ retry_after_ms: 3_000, message: "The provider answered 429: too many for [key]" });
    expect(JSON.stringify([error, error.cause, error.stack])).not.toContain(KEY);
    expect(posts()).toHaveLength(1);
  });

  test("a key that is none is refused as the provider says", async () => {
    const { error } = await failed(models.open(at(anthropic.url, "sk-wrong")), ask("Hello", { streamed }));
    expect(error).toMatchObject({
      kind: "refused",
      status: 401,
      message: "The provider answered 401: invalid x-api-key",
    });
  });

  test("a hang ends when it is no longer waited for", async () => {
    anthropic.script(({ method }) => (method === "POST" ? { write: () => undefined } : undefined));
    const controller = new AbortController();
    const answer = heard(model(), ask("Hello", { streamed }), controller.signal);
    while (posts().length === 0) await wait(5);
    controller.abort(new Error("enough"));
    await expect(answer).rejects.toMatchObject({ name: "AbortError" });
  });

  test("connections are used again", async () => {
    for (let n = 0; n < 20; n += 1) await heard(model(), ask("one two three", { streamed }));
    expect(new Set(anthropic.requests.map(({ connection }) => connection)).size).toBeLessThanOrEqual(3);
  });

  test("an error event breaks the answer off", async () => {
    anthropic.answers({
      blocks: [{ text: "Well, " }],
      error: { type: "overloaded_error", message: `Overloaded ${KEY}` },
    });
    const { error, said } = await failed(model(), ask("Hello", { streamed }));
    expect(error).toMatchObject({ kind: "cut", message: "The provider broke off: Overloaded [key]" });
    expect(textOf(said)).toBe(streamed ? "Well, " : "");
  });

  test.each(["mid-event", "after-blocks", "end"] as const)("an answer that ends too early is cut (%s)", async (cut) => {
    anthropic.answers({ cut });
    expect((await failed(model(), ask("one two three", { streamed }))).error.kind).toBe("cut");
  });
});

describe("a streamed answer", () => {
  const streamed = ask("Hello", { streamed: true });

  test.each(["end", "destroy", "open"] as const)(
    "is whole once there is a reason to stop (then: %s)",
    async (after) => {
      writes(start + says("Yes.") + ends("end_turn"), after);
      const events = await heard(model(), streamed);
      expect(textOf(events)).toBe("Yes.");
      expect(finishOf(events).finish_reason).toBe("stop");
    },
  );

  test("skips what nobody knows", async () => {
    const unknown = event("content_block_start", { index: 1, content_block: { type: "hologram", light: 5 } });
    const delta = event("content_block_delta", { index: 1, delta: { type: "light_delta", light: 6 } });
    writes(start + event("surprise") + unknown + delta + says("Yes.") + ends("end_turn"));
    expect(textOf(await heard(model(), streamed))).toBe("Yes.");
  });

  test.each([
    ["half JSON", Buffer.from('event: content_block_delta\ndata: {"type":\n\n')],
    ["invalid UTF-8", Buffer.from(says("\u00ff"), "latin1")],
  ])("is cut by %s", async (_, bytes) => {
    anthropic.script(({ method }) =>
      method === "GET"
        ? undefined
        : {
            write: (response) => {
              response.writeHead(200, sse).write(start + says("Well, "));
              setTimeout(() => response.end(bytes), 20);
            },
          },
    );
    const { error, said } = await failed(model(), streamed);
    expect([error.kind, textOf(said)]).toEqual(["cut", "Well, "]);
  });

  test("is cut when it has no end, and the provider is told", async () => {
    let closed = false;
    anthropic.script(({ method }) =>
      method === "GET"
        ? undefined
        : {
            write: (response) => {
              response.writeHead(200, sse).on("close", () => (closed = true));
              response.write(start);
              const endless = says("a".repeat(100_000));
              const more = () => {
                while (!response.destroyed && response.write(endless)) continue;
              };
              response.on("drain", more);
              more();
            },
          },
    );
    const { error } = await failed(model(), streamed);
    expect(error).toMatchObject({ kind: "cut", message: "The provider's answer had no end." });
    while (!closed) await wait(5);
  });

  test("ends at the provider when its reader leaves", async () => {
    let closed = false;
    anthropic.script(({ method }) =>
      method === "GET"
        ? undefined
        : {
            write: (response) => {
              response.on("close", () => (closed = true));
              response.writeHead(200, sse).write(start + says("Well, "));
            },
          },
    );
    for await (const said of model().complete(streamed, new AbortController().signal)) {
      expect(said).toEqual({ type: "text", text: "Well, " });
      break;
    }
    while (!closed) await wait(5);
  });
});
