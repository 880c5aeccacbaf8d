import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ModelEvent, ModelMessage, ModelRequest } from "#services/turns/model.ts";
import { startAnthropic, type AnthropicDouble, type Block } from "#test/doubles/anthropic.ts";
import { asking, finishOf, heard, textOf } from "#test/doubles/modelRequest.ts";
import { openModels } from "../index.ts";

/* Rounds of tools: the double refuses thoughts that do not come back as they were, and calls without a result. */

let anthropic: AnthropicDouble;
beforeAll(async () => {
  anthropic = await startAnthropic();
});
afterAll(() => anthropic.close());

const models = openModels({ offline: false, privateHosts: [] });
const model = () =>
  models.open({ provider: "anthropic", api_key: "sk-ant-x", base_url: anthropic.url, guarded: false });
const tools = ["search", "read"].map((name) => ({
  name,
  description: `Does ${name}.`,
  parameters: { type: "object", properties: { q: { type: "string" } } },
}));
const ask = (more: Partial<ModelRequest> = {}) => asking("Look", { model: "claude-opus-5", tools, ...more });

/** The conversation after an answer that asked for tools, as a turn goes on with it, from what was recorded. */
function after(before: ModelMessage[], events: ModelEvent[]): ModelMessage[] {
  const asked = events.find((event) => event.type === "tool_calls");
  if (!asked) throw new Error("nothing was asked for");
  const { calls, opaque } = JSON.parse(JSON.stringify(asked)) as typeof asked;
  const text = textOf(events);
  return [
    ...before,
    { role: "assistant", parts: text === "" ? [] : [{ type: "text", text }], calls, opaque },
    ...calls.map(
      ({ id, name }): ModelMessage => ({
        role: "tool",
        call_id: id,
        parts: [{ type: "text", text: `${name} found it` }],
      }),
    ),
  ];
}
async function goesOn(blocks: Block[], more: Partial<ModelRequest> = {}, streamed = true) {
  anthropic.answers({ blocks }, { blocks: [{ text: "Done." }] });
  const request = ask({ streamed, ...more });
  const first = await heard(model(), request);
  const second = await heard(model(), { ...request, tool_choice: "auto", messages: after(request.messages, first) });
  expect(textOf(second)).toBe("Done.");
  return { first, messages: anthropic.asked().at(-1).messages };
}

describe.each([{ streamed: false }, { streamed: true }])("streamed: $streamed", ({ streamed }) => {
  test("calls come whole, side by side, and go back with their results in one message", async () => {
    const input = { q: "a long question, so that it comes in several pieces" };
    const { first, messages } = await goesOn(
      [{ text: "Let me look." }, { tool: "search", input }, { tool: "read", input: {} }],
      {},
      streamed,
    );
    expect(first.slice(-2)).toMatchObject([
      {
        type: "tool_calls",
        calls: [
          { name: "search", arguments: JSON.stringify(input) },
          { name: "read", arguments: "{}" },
        ],
      },
      { type: "finish", finish_reason: "tool_calls" },
    ]);
    const [one, two] = (first.at(-2) as any).calls.map(({ id }: any) => id);
    expect(messages).toEqual([
      { role: "user", content: [{ type: "text", text: "Look" }] },
      {
        role: "assistant",
        content: [
          { type: "text", text: "Let me look." },
          { type: "tool_use", id: one, name: "search", input },
          { type: "tool_use", id: two, name: "read", input: {} },
        ],
      },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: one, content: "search found it" },
          { type: "tool_result", tool_use_id: two, content: "read found it" },
        ],
      },
    ]);
  });

  test("thoughts go back as they came, readable or not", async () => {
    const { messages } = await goesOn(
      [
        { thinking: "Where could it be?" },
        { redacted: "c2VhbGVk" },
        { text: "Let me look." },
        { tool: "search", input: { q: "1" } },
      ],
      { reasoning_effort: "high" },
      streamed,
    );
    expect(messages[1].content).toMatchObject([
      { type: "thinking", thinking: "Where could it be?", signature: expect.any(String) },
      { type: "redacted_thinking", data: "c2VhbGVk" },
      { type: "text", text: "Let me look." },
      { type: "tool_use", input: { q: "1" } },
    ]);
  });
});

test("any order of blocks goes back unaltered", async () => {
  const words = fc.string({ minLength: 1, unit: "grapheme" }).filter((text) => text.trim() !== "");
  const block = fc.oneof(
    words.map((thinking): Block => ({ thinking })),
    words.map((redacted): Block => ({ redacted })),
    words.map((text): Block => ({ text })),
    fc.jsonValue().map((q): Block => ({ tool: "search", input: { q } })),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(block, { maxLength: 6 }), fc.boolean(), async (blocks, streamed) => {
      const said: Block[] = [...blocks, { tool: "read", input: { q: "last" } }];
      const { messages } = await goesOn(said, { reasoning_effort: "high" }, streamed);
      const types = messages[1].content.map(({ type }: any) => type);
      expect(types).toEqual(
        said.map((one) =>
          "thinking" in one
            ? "thinking"
            : "redacted" in one
              ? "redacted_thinking"
              : "text" in one
                ? "text"
                : "tool_use",
        ),
      );
      const texts = messages[1].content.flatMap(({ type, text }: any) => (type === "text" ? text : []));
      expect(texts).toEqual(said.flatMap((one) => ("text" in one ? one.text : [])));
    }),
    { numRuns: 60 },
  );
});

test("calls that are not gone on with are left out, and the thoughts before them stay", async () => {
  anthropic.answers({ blocks: [{ thinking: "Many." }, { tool: "search", input: {} }, { tool: "read", input: {} }] });
  const request = ask({ reasoning_effort: "high" });
  const messages = after(request.messages, await heard(model(), request)).slice(0, -1) as any[];
  messages[1] = { ...messages[1], calls: messages[1].calls.slice(0, 1) };
  anthropic.answers({});
  await heard(model(), { ...request, messages });
  expect(
    anthropic
      .asked()
      .at(-1)
      .messages[1].content.map(({ type }: any) => type),
  ).toEqual(["thinking", "tool_use"]);
});

test("by budget, a turn whose first choice was forced goes on without thoughts", async () => {
  await goesOn([{ tool: "search", input: {} }], {
    model: "claude-haiku-4-5",
    reasoning_effort: "high",
    tool_choice: "required",
  });
  const [first, second] = anthropic.asked();
  expect([first.thinking, second.thinking]).toEqual([undefined, undefined]);
});

test("by budget, a turn that thinks goes on thinking", async () => {
  await goesOn([{ thinking: "Hm." }, { tool: "search", input: {} }], {
    model: "claude-haiku-4-5",
    reasoning_effort: "low",
  });
  expect(anthropic.asked().map(({ thinking }) => thinking.type)).toEqual(["enabled", "enabled"]);
});

test("arguments that are no object go back as an empty one", async () => {
  const messages: ModelMessage[] = [
    { role: "user", parts: [{ type: "text", text: "Look" }] },
    { role: "assistant", parts: [], calls: [{ id: "toolu_cut", name: "search", arguments: '{"q":' }] },
    { role: "tool", call_id: "toolu_cut", parts: [{ type: "text", text: "no" }] },
  ];
  anthropic.answers({});
  expect(finishOf(await heard(model(), ask({ messages })))).toMatchObject({ finish_reason: "stop" });
  expect(anthropic.asked().at(-1).messages[1].content[0].input).toEqual({});
});
