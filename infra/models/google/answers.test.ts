import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Part } from "#test/doubles/google.ts";
import { GOOGLE } from "#test/doubles/google/dialect.ts";
import {
  afterCalls,
  callsEvent,
  collectEvents,
  collectFailure,
  finishEvent,
  outputText,
  tool,
} from "#test/doubles/modelRequest.ts";
import { useDouble } from "#test/doubles/useDouble.ts";

const { double, open, request } = useDouble(GOOGLE);
const tools = ["search", "read", "web_fetch"].map(tool);

describe.each([{ streamed: false }, { streamed: true }])("an answer (streamed: $streamed)", ({ streamed }) => {
  const answer = () => collectEvents(open(), request("Hello", { streamed }));
  const failure = async () => (await collectFailure(open(), request("Hello", { streamed }))).error;

  test.each(["MALFORMED_FUNCTION_CALL", "MALFORMED_RESPONSE", "UNEXPECTED_TOOL_CALL"])(
    "with the finish reason %s is cut",
    async (finishReason) => {
      double().answers({ parts: [], finishReason });
      expect(await failure()).toMatchObject({ kind: "cut", message: expect.stringContaining(finishReason) });
    },
  );

  test("to a blocked prompt is empty", async () => {
    double().answers({ blockReason: "PROHIBITED_CONTENT", usage: { promptTokenCount: 5 } });
    const usage = { prompt_tokens: 5, completion_tokens: 0, cached_tokens: 0, reasoning_tokens: 0 };
    expect(await answer()).toEqual([
      { type: "refusal", text: "The provider's safety filter stopped the answer." },
      { type: "finish", finish_reason: "content_filter", usage },
    ]);
  });

  test("cites the pages that Google has read, with their titles if it gives them", async () => {
    double().answers({
      parts: [{ text: "They agree." }],
      pages: [
        { url: "https://example.com/a", title: "A" },
        { url: "https://example.com/b" },
        { url: "https://example.com/c", status: "URL_RETRIEVAL_STATUS_PAYWALL" },
        { url: "https://example.com/a", title: "A" },
      ],
    });
    expect((await answer()).at(-2)).toEqual({
      type: "citations",
      citations: [
        { url: "https://example.com/a", title: "A", start_index: 0, end_index: 11 },
        { url: "https://example.com/b", title: "https://example.com/b", start_index: 0, end_index: 11 },
      ],
    });
  });

  test("that is too long for one request continues in another", async () => {
    double().answers({ parts: [{ text: "One " }], continuationToken: "dG9rZW4=" }, { parts: [{ text: "two." }] });
    const events = await answer();
    expect(outputText(events)).toBe("One two.");
    const usage = { prompt_tokens: 24, completion_tokens: 14 };
    expect(finishEvent(events)).toMatchObject({ finish_reason: "stop", usage });
    expect(
      double()
        .prompts()
        .map(({ body }) => body.continuationToken),
    ).toEqual([undefined, "dG9rZW4="]);
  });

  test("that continues without an end is cut", async () => {
    let n = 0;
    double().script(({ method }) => (method === "POST" ? { parts: [], continuationToken: `token-${n++}` } : undefined));
    expect(await failure()).toMatchObject({
      kind: "cut",
      message: "The provider's answer exceeds the size limit.",
    });
    expect(double().prompts().length).toBeLessThan(50);
  });

  test("with an error in a list has the error's message", async () => {
    double().reply({ status: 404, body: [{ error: { code: 404, message: "No." } }] });
    expect((await failure()).message).toBe("The provider answered 404: No.");
  });

  test.each([
    ["the retry delay of its body", {}, "13.5s", 13_500],
    ["the retry delay of its headers rather than of its body", { "retry-after": "3" }, "13.5s", 3_000],
    ["no retry delay if it cannot be read", {}, "soon", undefined],
  ])("that is refused has %s", async (_, headers, retryDelay, expected) => {
    const details = [
      { "@type": "type.googleapis.com/google.rpc.Help", links: [] },
      { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay },
    ];
    const body = { error: { code: 429, message: "Quota", status: "RESOURCE_EXHAUSTED", details } };
    double().reply({ status: 429, headers, body });
    expect((await failure()).retry_after_ms).toBe(expected);
  });
});

/* Parts of answers with calls. The fake provider refuses signatures that come back in other places. */

/** Sends a request that gets these parts, and continues it. Returns the calls, and the contents sent back. */
async function twoRounds(parts: Part[], streamed = true, result?: string) {
  double().answers({ parts }, { parts: [{ text: "Done." }] });
  const first = request("Look", { tools, streamed });
  const events = await collectEvents(open(), first);
  const messages = afterCalls(first.messages, events, result);
  expect(outputText(await collectEvents(open(), { ...first, messages }))).toBe("Done.");
  return { calls: callsEvent(events)!.calls, returned: double().prompts().at(-1)!.body.contents.slice(1) };
}

describe.each([{ streamed: false }, { streamed: true }])(
  "an answer with calls (streamed: $streamed)",
  ({ streamed }) => {
    test("goes back with its signatures, without its thoughts", async () => {
      const { calls, returned } = await twoRounds(
        [
          { thought: "Where could it be?" },
          { text: "Let me look." },
          { call: "search", args: { q: "1" }, signed: true },
          { call: "read" },
        ],
        streamed,
      );
      const [one, two] = calls.map(({ id }) => id);
      const response = { found: true };
      expect(returned).toEqual([
        {
          role: "model",
          parts: [
            { text: "Let me look." },
            { functionCall: { id: one, name: "search", args: { q: "1" } }, thoughtSignature: expect.any(String) },
            { functionCall: { id: two, name: "read", args: {} } },
          ],
        },
        {
          role: "user",
          parts: [
            { functionResponse: { id: one, name: "search", response } },
            { functionResponse: { id: two, name: "read", response } },
          ],
        },
      ]);
    });

    test("without ids goes back without ids, and its calls get distinct ids here", async () => {
      const call = { call: "search", id: false };
      const { calls, returned } = await twoRounds([call, call], streamed);
      expect(new Set(calls.map(({ id }) => id)).size).toBe(2);
      expect(returned[0].parts).toMatchObject(Array(2).fill({ functionCall: { name: "search", args: {} } }));
      expect(returned[1].parts[0]).toEqual({ functionResponse: { name: "search", response: { found: true } } });
    });

    test("goes back with the calls and results of Google's own tool", async () => {
      const { returned } = await twoRounds(
        [{ page: "https://example.com/a" }, { text: "I have read it." }, { call: "search", signed: true }],
        streamed,
      );
      expect(returned[0].parts).toMatchObject([
        { toolCall: { toolType: "URL_CONTEXT" }, thoughtSignature: expect.any(String) },
        { toolResponse: { response: { read: "https://example.com/a" } } },
        { text: "I have read it." },
        { functionCall: { name: "search" }, thoughtSignature: expect.any(String) },
      ]);
    });
  },
);

test.each([
  ["found it", { output: "found it" }],
  ["[1,2]", { output: [1, 2] }],
  ["5", { output: 5 }],
  ["null", { output: null }],
  ['{"error":"no"}', { error: "no" }],
])("the result %j goes back as %j", async (result, response) => {
  const { returned } = await twoRounds([{ call: "search" }], true, result);
  expect(returned.at(-1).parts[0].functionResponse.response).toEqual(response);
});

test("parts in any order go back unchanged", async () => {
  const words = fc.string({ minLength: 1, unit: "grapheme" }).filter((text) => text.trim() !== "");
  const part = fc.oneof(
    words.map((thought): Part => ({ thought })),
    fc.record({ text: words, signed: fc.boolean() }),
    fc.constant<Part>({ text: "", signed: true }),
    fc.record({
      call: fc.constant("search"),
      id: fc.boolean(),
      signed: fc.boolean(),
      args: fc.record({ q: fc.jsonValue() }),
    }),
    words.map((page): Part => ({ page })),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(part, { maxLength: 6 }), fc.boolean(), async (parts, streamed) => {
      await twoRounds([...parts, { call: "read", args: { q: "last" }, signed: true }], streamed);
    }),
    { numRuns: 60 },
  );
});
