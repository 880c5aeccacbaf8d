import { describe, expect, test } from "vitest";
import type { ModelMessage } from "#services/turns/model.ts";
import { collectEvents, filePart, modelRequest, tool } from "#test/doubles/modelRequest.ts";
import { OPENAI } from "#test/doubles/openai/dialect.ts";
import { connectorFor } from "../connectors.ts";
import { useDouble } from "#test/doubles/useDouble.ts";

const { credential, wireBody: body } = useDouble(OPENAI);

describe.each([{ streamed: false }, { streamed: true }])("a request (streamed: $streamed)", ({ streamed }) => {
  test("has what was asked for and nothing else", async () => {
    const schema = { type: "object", properties: { n: { type: "integer" } } };
    const response_format = { type: "json_schema" as const, json_schema: { name: "number", schema, strict: true } };
    const options = { temperature: 0.5, top_p: 0.9, stop: ["END"], seed: 7, user: "ann", response_format };
    const stream = { stream: streamed, ...(streamed && { stream_options: { include_usage: true } }) };
    const user = { role: "user", content: "Hello" };
    expect(await body({ ...options, instructions: "Be brief.", max_output_tokens: 50, streamed })).toEqual({
      model: "gpt-test",
      messages: [{ role: "system", content: "Be brief." }, user],
      max_tokens: 50,
      ...options,
      ...stream,
    });
    expect(await body({ streamed })).toEqual({ model: "gpt-test", messages: [user], ...stream });
  });

  test("has tools, and a choice only with tools", async () => {
    const tools = ["search", "read"].map(tool);
    const offered = await body({ tools, streamed });
    expect(offered.tools).toEqual(tools.map((one) => ({ type: "function", function: one })));
    expect(offered).not.toHaveProperty("tool_choice");
    expect((await body({ tools, streamed, tool_choice: "required" })).tool_choice).toBe("required");
    const named = await body({ tools, streamed, tool_choice: { name: "read" } });
    expect(named.tool_choice).toEqual({ type: "function", function: { name: "read" } });
    expect(await body({ streamed, tool_choice: "required" })).not.toHaveProperty("tool_choice");
  });
});

test("attachments follow the text: images as image_url, other files as file", async () => {
  const files = [filePart("dot.png", "image/png", "PNG"), filePart("a.pdf", "application/pdf", "PDF")];
  expect((await body({}, files)).messages[0].content).toEqual([
    { type: "text", text: "Hello" },
    { type: "image_url", image_url: { url: "data:image/png;base64,UE5H" } },
    { type: "file", file: { filename: "a.pdf", file_data: "data:application/pdf;base64,UERG" } },
  ]);
});

test("an answer with calls goes back with the reasoning and the signatures that came with it", async () => {
  const extra_content = { google: { thought_signature: "abc" } };
  const calls = [
    { id: "call_0", name: "search", arguments: '{"q":"1"}' },
    { id: "call_1", name: "read", arguments: '{"q":"2"}' },
  ];
  const state = { reasoning_content: "Hm.", extra_content: [extra_content, null] };
  const messages: ModelMessage[] = [
    { role: "user", parts: [{ type: "text", text: "Look" }] },
    { role: "assistant", parts: [], calls, opaque: { provider: "openai", state } },
    { role: "tool", call_id: "call_0", parts: [{ type: "text", text: "one" }] },
  ];
  const [one, two] = calls.map(({ id, ...call }) => ({ id, type: "function", function: call }));
  expect((await body({ messages })).messages).toEqual([
    { role: "user", content: "Look" },
    { role: "assistant", content: null, reasoning_content: "Hm.", tool_calls: [{ ...one, extra_content }, two] },
    { role: "tool", tool_call_id: "call_0", content: "one" },
  ]);
});

test.each([
  [null, "https://api.openai.com/v1", "max_completion_tokens"],
  ["https://api.openai.com/v1", "https://api.openai.com/v1", "max_completion_tokens"],
  ["https://api.openai.com/v1/", "https://api.openai.com/v1", "max_completion_tokens"],
  ["https://api.openai.com.example/v1", "https://api.openai.com.example/v1", "max_tokens"],
  ["http://127.0.0.1:4000/v1", "http://127.0.0.1:4000/v1", "max_tokens"],
])("a request to %j goes to %s with %s", async (base_url, address, limit) => {
  const sent: { url: string; body: any }[] = [];
  const model = connectorFor({ provider: "openai" }).model(credential({ base_url }), async (url, outgoing) => {
    sent.push({ url, body: JSON.parse(String(outgoing.body)) });
    const chunks = [Buffer.from('{"choices":[{"message":{"content":"Yes."},"finish_reason":"stop"}]}')].values();
    const headers = new Headers({ "content-type": "application/json" });
    return { status: 200, headers, chunks: { next: async () => chunks.next() }, cancel: () => undefined };
  });
  await collectEvents(model, modelRequest("Hello", { max_output_tokens: 5 }));
  const { model: _, messages, ...options } = sent[0]!.body;
  expect([sent[0]!.url, options]).toEqual([`${address}/chat/completions`, { [limit]: 5, stream: false }]);
  expect(messages).toHaveLength(1);
});
