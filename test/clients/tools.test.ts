import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { ChatOpenAI } from "@langchain/openai";
import { generateText, streamText, tool, type LanguageModel } from "ai";
import OpenAI from "openai";
import { beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { openReader } from "../knowledge/library.ts";
import { startDeployment } from "./deployment.ts";

/* Clients that offer tools which run on the server: they see an answer with its sources, and nothing that they had to run. */

globalThis.AI_SDK_LOG_WARNINGS = false;
const deployment = await startDeployment();
const library = openReader(deployment.platform.url, deployment.api_key);
const slug = await library.collect("Notes");
const { body } = await library.push(slug, { text: "The lighthouse is painted every spring.", name: "Lighthouse" });
await library.ended(body.id);
beforeEach(() =>
  deployment.answers(
    { tool_calls: [{ name: "search_documents", arguments: { query: "lighthouse" } }] },
    { text: "Every spring it is." },
  ),
);

const id = "openai/gpt-test";
const name = "search_documents";
const TITLE = "Lighthouse, excerpt 1";
const USAGE = { prompt_tokens: 24, completion_tokens: 14, total_tokens: 38 };

describe("openai", () => {
  const client = () => new OpenAI({ apiKey: deployment.api_key, baseURL: deployment.base_url });
  const asked = {
    model: id,
    messages: [{ role: "user" as const, content: "When?" }],
    tools: [{ type: "function" as const, function: { name, parameters: { type: "object", properties: {} } } }],
  };

  test("create: one answer with its sources and the usage of all rounds", async () => {
    const { choices, usage } = await client().chat.completions.create(asked);
    expect(choices[0]).toMatchObject({ finish_reason: "stop", message: { content: "Every spring it is." } });
    expect(choices[0]!.message.tool_calls).toBeUndefined();
    expect(choices[0]!.message.annotations).toMatchObject([{ url_citation: { title: TITLE, start_index: 0 } }]);
    expect(usage).toMatchObject(USAGE);
  });

  test("the stream helper assembles the answer", async () => {
    const stream = client().chat.completions.stream({ ...asked, stream_options: { include_usage: true } });
    const { choices, usage } = await stream.finalChatCompletion();
    expect(choices[0]).toMatchObject({ finish_reason: "stop", message: { content: "Every spring it is." } });
    expect(usage).toMatchObject(USAGE);
  });

  test("runTools finds no call to run", async () => {
    const parse = JSON.parse as (input: string) => object;
    const run = () => expect.unreachable("the client ran a tool of the server");
    const runner = client().chat.completions.runTools({
      ...asked,
      tools: [{ type: "function", function: { name, function: run, parse, description: "", parameters: {} } }],
    });
    expect(await runner.finalContent()).toBe("Every spring it is.");
    expect(deployment.calls()).toBe(2);
  });
});

const kinds: [string, () => Exclude<LanguageModel, string>][] = [
  ["@ai-sdk/openai, chat", () => createOpenAI({ baseURL: deployment.base_url, apiKey: deployment.api_key }).chat(id)],
  [
    "@ai-sdk/openai-compatible",
    () => createOpenAICompatible({ name: "platform", baseURL: deployment.base_url, apiKey: deployment.api_key })(id),
  ],
];
describe.each(kinds)("%s", (kind, open) => {
  const tools = { [name]: tool({ description: "Searches", inputSchema: z.object({ query: z.string() }) }) };

  test("generateText: an answer and no calls", async () => {
    const { text, finishReason, toolCalls, sources } = await generateText({ model: open(), prompt: "When?", tools });
    expect([text, finishReason, toolCalls]).toEqual(["Every spring it is.", "stop", []]);
    if (kind.startsWith("@ai-sdk/openai,")) expect(sources).toMatchObject([{ sourceType: "url", title: TITLE }]);
  });

  test("streamText: an answer and no calls", async () => {
    const stream = streamText({ model: open(), prompt: "When?", tools });
    expect(await stream.text).toBe("Every spring it is.");
    expect(await stream.toolCalls).toEqual([]);
    if (kind.startsWith("@ai-sdk/openai,")) expect(await stream.sources).toMatchObject([{ title: TITLE }]);
  });
});

describe("langchain", () => {
  const model = () =>
    new ChatOpenAI({
      model: id,
      apiKey: deployment.api_key,
      configuration: { baseURL: deployment.base_url },
    }).bindTools([{ type: "function", function: { name, parameters: { type: "object", properties: {} } } }]);

  test("invoke: an answer and no calls", async () => {
    const message = await model().invoke("When?");
    expect(message.content).toBe("Every spring it is.");
    expect(message.tool_calls).toEqual([]);
    expect(message.usage_metadata).toMatchObject({ input_tokens: 24, output_tokens: 14 });
  });

  test("stream: an answer and no calls", async () => {
    const chunks = await Array.fromAsync(await model().stream("When?"));
    const whole = chunks.reduce((sum, chunk) => sum.concat(chunk));
    expect(whole.content).toBe("Every spring it is.");
    expect(whole.tool_calls).toEqual([]);
  });
});
