import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { ModelMessage, ModelRequest } from "#services/turns/model.ts";
import { asking, finishOf, heard, textOf } from "#test/doubles/modelRequest.ts";
import { startProvider, type Provider } from "#test/doubles/provider.ts";
import { frame } from "#test/doubles/providerReply.ts";
import { openModels } from "../index.ts";

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
const model = () => models.open({ provider: "test", api_key: "sk", base_url: provider.url, guarded: false });
const sent = () => provider.requests.at(-1)!.body;
const parameters = { type: "object", properties: { q: { type: "string" } }, required: ["q"] };
const tools = ["search", "read"].map((name) => ({ name, description: `Does ${name}.`, parameters }));
const wanted = async (more: Partial<ModelRequest>) => {
  const events = await heard(model(), asking("Look", { tools, ...more }));
  return { events, asked: events.find((event) => event.type === "tool_calls") };
};

describe.each([
  { way: "buffered", streamed: false },
  { way: "streamed", streamed: true },
])("$way", ({ streamed }) => {
  test("tools are offered, and forced where that is wanted", async () => {
    await wanted({ streamed });
    expect(sent().tools).toEqual(tools.map((tool) => ({ type: "function", function: tool })));
    expect(sent()).not.toHaveProperty("tool_choice");
    await wanted({ streamed, tool_choice: "required" });
    expect(sent().tool_choice).toBe("required");
    await wanted({ streamed, tool_choice: { name: "read" } });
    expect(sent().tool_choice).toEqual({ type: "function", function: { name: "read" } });
    await heard(model(), asking("Look", { streamed, tool_choice: "required" }));
    expect(Object.keys(sent())).not.toContain("tool_choice");
  });

  test("calls come whole, side by side", async () => {
    const args = { q: "a long question, so that it comes in several pieces" };
    provider.script({
      tool_calls: [
        { name: "search", arguments: args },
        { name: "read", arguments: { q: "2" } },
        { name: "search", arguments: "" },
      ],
    });
    const { asked, events } = await wanted({ streamed });
    expect(asked).toEqual({
      type: "tool_calls",
      calls: [
        { id: "call_0", name: "search", arguments: JSON.stringify(args) },
        { id: "call_1", name: "read", arguments: '{"q":"2"}' },
        { id: "call_2", name: "search", arguments: "{}" },
      ],
    });
    expect(finishOf(events)).toMatchObject({ finish_reason: "tool_calls" });
  });

  test("text comes before calls", async () => {
    provider.script({ text: "Let me look.", tool_calls: [{ name: "search", arguments: {} }] });
    const { events } = await wanted({ streamed });
    expect(textOf(events)).toBe("Let me look.");
    expect(events.slice(-2).map(({ type }) => type)).toEqual(["tool_calls", "finish"]);
  });

  test("what a provider sends along goes back with the results", async () => {
    const extra_content = { google: { thought_signature: "abc" } };
    provider.script({
      reasoning: "Hm.",
      tool_calls: [
        { name: "search", arguments: { q: "1" }, extra_content },
        { name: "read", arguments: { q: "2" } },
      ],
    });
    const { asked } = await wanted({ streamed });
    if (asked?.type !== "tool_calls") throw new Error("nothing was asked for");
    const { calls, opaque } = asked;
    const result = (call_id: string, text: string): ModelMessage => ({
      role: "tool",
      call_id,
      parts: [{ type: "text", text }],
    });
    const messages: ModelMessage[] = [
      { role: "user", parts: [{ type: "text", text: "Look" }] },
      { role: "assistant", parts: [], calls, opaque },
      result("call_0", "one"),
      result("call_1", "two"),
    ];
    provider.script({ text: "Found" });
    await wanted({ streamed, messages });
    expect(sent().messages).toEqual([
      { role: "user", content: "Look" },
      {
        role: "assistant",
        content: null,
        reasoning_content: "Hm.",
        tool_calls: [
          { id: "call_0", type: "function", function: { name: "search", arguments: '{"q":"1"}' }, extra_content },
          { id: "call_1", type: "function", function: { name: "read", arguments: '{"q":"2"}' } },
        ],
      },
      { role: "tool", tool_call_id: "call_0", content: "one" },
      { role: "tool", tool_call_id: "call_1", content: "two" },
    ]);
  });

  test("calls count where a provider counts nothing", async () => {
    provider.script({ usage: null, tool_calls: [{ name: "search", arguments: { q: "one two three" } }] });
    const { events } = await wanted({ streamed });
    expect(finishOf(events).usage.completion_tokens).toBeGreaterThan(10);
  });
});

describe("a stream of other servers", () => {
  const delta = (tool_call: unknown) => frame({ choices: [{ index: 0, delta: { tool_calls: [tool_call] } }] });
  const end = `${frame({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] })}data: [DONE]\n\n`;
  const streamOf = (...tool_calls: unknown[]) =>
    provider.script({
      write: (response) =>
        void response.writeHead(200, { "content-type": "text/event-stream" }).end(tool_calls.map(delta).join("") + end),
    });

  test("without numbers brings whole calls", async () => {
    streamOf(
      { id: "a", function: { name: "search", arguments: '{"q":"1"}' } },
      { id: "b", function: { name: "read", arguments: "{}" } },
    );
    expect((await wanted({ streamed: true })).asked).toMatchObject({
      calls: [
        { id: "a", name: "search", arguments: '{"q":"1"}' },
        { id: "b", name: "read", arguments: "{}" },
      ],
    });
  });

  test("without ids gets some", async () => {
    streamOf(
      { index: 0, function: { name: "search", arguments: "{" } },
      { index: 0, function: { name: "", arguments: "}" } },
    );
    const { asked } = await wanted({ streamed: true });
    expect(asked).toMatchObject({ calls: [{ id: expect.stringMatching(/^call_/), name: "search", arguments: "{}" }] });
  });

  test.each([null, 5, {}, { function: null }, { index: -1, id: 7, function: { name: 3 } }])(
    "with %j for a call brings none",
    async (call) => {
      streamOf(call);
      expect((await wanted({ streamed: true })).asked).toBeUndefined();
    },
  );
});
