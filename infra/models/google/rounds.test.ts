import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ModelEvent, ModelMessage, ModelRequest } from "#services/turns/model.ts";
import { startGoogle, type GoogleDouble, type Part } from "#test/doubles/google.ts";
import { asking, heard, textOf } from "#test/doubles/modelRequest.ts";
import { openModels } from "../index.ts";

/* Rounds of tools: the double refuses signatures that do not come back where they were, and calls without a result. */

let google: GoogleDouble;
beforeAll(async () => {
  google = await startGoogle();
});
afterAll(() => google.close());

const models = openModels({ offline: false, privateHosts: [] });
const model = () => models.open({ provider: "google", api_key: "AIza-x", base_url: google.url, guarded: false });
const tools = ["search", "read", "web_fetch"].map((name) => ({
  name,
  description: `Does ${name}.`,
  parameters: { type: "object", properties: { q: { type: "string" } } },
}));
const ask = (more: Partial<ModelRequest> = {}) => asking("Look", { model: "gemini-4-pro", tools, ...more });

/** The conversation after an answer that asked for tools, as a turn goes on with it, from what was recorded. */
function after(before: ModelMessage[], events: ModelEvent[], result = '{"found":true}'): ModelMessage[] {
  const asked = events.find((event) => event.type === "tool_calls");
  if (!asked) throw new Error("nothing was asked for");
  const { calls, opaque } = JSON.parse(JSON.stringify(asked)) as typeof asked;
  const text = textOf(events);
  return [
    ...before,
    { role: "assistant", parts: text === "" ? [] : [{ type: "text", text }], calls, opaque },
    ...calls.map(({ id }): ModelMessage => ({ role: "tool", call_id: id, parts: [{ type: "text", text: result }] })),
  ];
}
async function goesOn(parts: Part[], streamed = true, result?: string) {
  google.answers({ parts }, { parts: [{ text: "Done." }] });
  const request = ask({ streamed });
  const first = await heard(model(), request);
  const second = await heard(model(), { ...request, messages: after(request.messages, first, result) });
  expect(textOf(second)).toBe("Done.");
  return { first, contents: google.asked().at(-1).contents };
}

describe.each([{ streamed: false }, { streamed: true }])("streamed: $streamed", ({ streamed }) => {
  test("calls come whole, side by side, and go back with their signatures and results", async () => {
    const { first, contents } = await goesOn(
      [
        { thought: "Where could it be?" },
        { text: "Let me look." },
        { call: "search", args: { q: "1" }, signed: true },
        { call: "read" },
      ],
      streamed,
    );
    expect(first.slice(-2)).toMatchObject([
      {
        type: "tool_calls",
        calls: [
          { name: "search", arguments: '{"q":"1"}' },
          { name: "read", arguments: "{}" },
        ],
      },
      { type: "finish", finish_reason: "tool_calls" },
    ]);
    const [one, two] = (first.at(-2) as any).calls.map(({ id }: any) => id);
    expect(contents.slice(1)).toEqual([
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
          { functionResponse: { id: one, name: "search", response: { found: true } } },
          { functionResponse: { id: two, name: "read", response: { found: true } } },
        ],
      },
    ]);
  });

  test("a model that gives no ids is given none, and its calls are told apart all the same", async () => {
    const { first, contents } = await goesOn(
      [
        { call: "search", id: false },
        { call: "search", id: false },
      ],
      streamed,
    );
    const ids = (first.at(-2) as any).calls.map(({ id }: any) => id);
    expect(new Set(ids).size).toBe(2);
    expect(contents[1].parts).toEqual(Array(2).fill({ functionCall: { name: "search", args: {} } }));
    expect(contents[2].parts[0]).toEqual({ functionResponse: { name: "search", response: { found: true } } });
  });

  test("what its own tool was asked and found goes back too", async () => {
    const { contents } = await goesOn(
      [{ page: "https://example.com/a" }, { text: "I have read it." }, { call: "search", signed: true }],
      streamed,
    );
    expect(contents[1].parts).toMatchObject([
      { toolCall: { toolType: "URL_CONTEXT" }, thoughtSignature: expect.any(String) },
      { toolResponse: { response: { read: "https://example.com/a" } } },
      { text: "I have read it." },
      { functionCall: { name: "search" }, thoughtSignature: expect.any(String) },
    ]);
  });
});

test.each([
  ["found it", { output: "found it" }],
  ["[1,2]", { output: [1, 2] }],
  ["5", { output: 5 }],
  ['{"error":"no"}', { error: "no" }],
])("the result %j goes back as %j", async (result, response) => {
  const { contents } = await goesOn([{ call: "search" }], true, result);
  expect(contents.at(-1).parts[0].functionResponse.response).toEqual(response);
});

test("any order of parts goes back unaltered", async () => {
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
      await goesOn([...parts, { call: "read", args: { q: "last" }, signed: true }], streamed);
    }),
    { numRuns: 60 },
  );
});
