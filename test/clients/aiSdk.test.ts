import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { APICallError, generateObject, generateText, Output, RetryError, streamText, type LanguageModel } from "ai";
import { beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { COUNTED, PDF, PNG, startDeployment } from "./deployment.ts";

globalThis.AI_SDK_LOG_WARNINGS = false;
const deployment = await startDeployment();
beforeEach(() => deployment.answers());

const compatible = (id: string, apiKey = deployment.api_key) =>
  createOpenAICompatible({
    name: "platform",
    baseURL: deployment.base_url,
    apiKey,
    includeUsage: true,
    supportsStructuredOutputs: true,
  })(id);
const openai = (id: string, apiKey = deployment.api_key) =>
  createOpenAI({ baseURL: deployment.base_url, apiKey }).chat(id);
const kinds: [string, (id: string, apiKey?: string) => Exclude<LanguageModel, string>][] = [
  ["@ai-sdk/openai-compatible", compatible],
  ["@ai-sdk/openai, chat", openai],
];
const id = "openai/gpt-test";
const source = {
  type: "url_citation",
  url_citation: { url: "https://example.org/a", title: "A", start_index: 0, end_index: 4 },
};

describe.each(kinds)("%s", (_kind, open) => {
  test("generateText: text, reason and usage", async () => {
    deployment.answers({ text: "So far", finish_reason: "length", usage: COUNTED });
    const { text, finishReason, usage, response } = await generateText({
      model: open(id),
      instructions: "Be brief",
      prompt: "Hello",
      temperature: 0.5,
    });
    expect([text, finishReason]).toEqual(["So far", "length"]);
    expect(usage).toMatchObject({ inputTokens: 30, outputTokens: 20, totalTokens: 50 });
    expect(usage.inputTokenDetails.cacheReadTokens).toBe(10);
    expect(usage.outputTokenDetails.reasoningTokens).toBe(5);
    expect(response).toMatchObject({ id: expect.stringMatching(/^chatcmpl-/), modelId: id });
    expect(response.headers!["x-thread-id"]).toBeTruthy();
    expect(deployment.asked().messages).toEqual([
      { role: "system", content: "Be brief" },
      { role: "user", content: "Hello" },
    ]);
  });

  test("streamText: words, reason and usage", async () => {
    deployment.answers({ text: "one two three", finish_reason: "content_filter", usage: COUNTED });
    const stream = streamText({ model: open(id), prompt: "Hello" });
    const words = await Array.fromAsync(stream.textStream);
    expect(words.length).toBeGreaterThan(1);
    expect(words.join("")).toBe("one two three");
    expect(await stream.finishReason).toBe("content-filter");
    expect(await stream.usage).toMatchObject({ inputTokens: 30, outputTokens: 20, totalTokens: 50 });
    expect((await stream.usage).inputTokenDetails.cacheReadTokens).toBe(10);
  });

  test("Output.object and generateObject: the schema is sent, and the value is returned", async () => {
    const schema = z.object({ name: z.string(), age: z.number() });
    deployment.answers({ text: '{"name":"Ada","age":36}' });
    const { output } = await generateText({ model: open(id), prompt: "Who?", output: Output.object({ schema }) });
    expect(output).toEqual({ name: "Ada", age: 36 });
    expect(deployment.asked().response_format).toMatchObject({
      type: "json_schema",
      json_schema: { schema: { type: "object", required: ["name", "age"] } },
    });
    expect((await generateObject({ model: open(id), prompt: "Who?", schema })).object).toEqual({
      name: "Ada",
      age: 36,
    });
    const least = await generateText({
      model: open("offline/echo"),
      prompt: "Who?",
      output: Output.object({ schema }),
    });
    expect(least.output).toEqual({ name: "", age: 0 });
  });

  test("images and files", async () => {
    deployment.answers({ text: "Seen" });
    const content = [
      { type: "text" as const, text: "Look" },
      { type: "image" as const, image: Buffer.from(PNG, "base64") },
      { type: "file" as const, data: Buffer.from(PDF, "base64"), mediaType: "application/pdf", filename: "a.pdf" },
    ];
    const { text } = await generateText({ model: open(id), messages: [{ role: "user", content }] });
    expect(text).toBe("Seen");
    expect(deployment.asked().messages[0].content).toEqual([
      { type: "text", text: "Look" },
      { type: "image_url", image_url: { url: `data:image/png;base64,${PNG}` } },
      {
        type: "file",
        file: { filename: expect.stringContaining(".pdf"), file_data: `data:application/pdf;base64,${PDF}` },
      },
    ]);
  });

  test("a refusal shows its message, status and code, and is not retried", async () => {
    for (const [model, status, code] of [
      [open("openai/gpt-none"), 400, "model_not_found"],
      [open(id, "sk-svc-nobody"), 401, "invalid_api_key"],
    ] as const) {
      const error = await generateText({ model, prompt: "x" }).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(APICallError);
      const { message, statusCode, isRetryable, data } = error as APICallError;
      expect([statusCode, isRetryable]).toEqual([status, false]);
      expect(message).toMatch(status === 400 ? /no model "openai\/gpt-none"/ : /API key is unknown/);
      expect(data).toMatchObject({ error: { code, message } });
    }
  });

  test("a failing provider: the message is shown after the client's own retries", async () => {
    deployment.answers({ status: 400, body: { error: { message: "I am ill" } } });
    const error = await generateText({ model: open(id), prompt: "x", maxRetries: 1 }).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(RetryError);
    expect((error as RetryError).errors).toHaveLength(2);
    const last = (error as RetryError).lastError as APICallError;
    expect([last.statusCode, last.message]).toEqual([502, expect.stringContaining("I am ill")]);
    expect(deployment.calls()).toBe(2);
  });

  test("a stream that breaks off ends in an error after the text so far", async () => {
    deployment.answers({ text: "Half of", cut: "after-text" });
    const heard: string[] = [];
    let reported: unknown;
    const stream = streamText({ model: open(id), prompt: "x", onError: ({ error }) => void (reported = error) });
    for await (const part of stream.fullStream) if (part.type === "text-delta") heard.push(part.text);
    expect(heard.join("")).toBe("Half of");
    expect(JSON.stringify(reported) + String(reported)).toContain("broke off");
  });

  test("a thread continues", async () => {
    const { response } = await generateText({ model: open(id), prompt: "I am Ada" });
    const headers = { "x-thread-id": response.headers!["x-thread-id"]! };
    const { text } = await generateText({ model: open(id), prompt: "Still me", headers });
    expect(text).toBe("Still me");
    expect(deployment.asked().messages).toHaveLength(3);
  });
});

test("@ai-sdk/openai shows sources, buffered and streamed", async () => {
  deployment.answers({ text: "Said", annotations: [source] });
  const shown = { type: "source", sourceType: "url", url: "https://example.org/a", title: "A" };
  expect((await generateText({ model: openai(id), prompt: "x" })).sources).toMatchObject([shown]);
  expect(await streamText({ model: openai(id), prompt: "x" }).sources).toMatchObject([shown]);
});

test("@ai-sdk/openai-compatible shows reasoning, buffered and streamed", async () => {
  deployment.answers({ text: "Said", reasoning: "Thought first" });
  const whole = await generateText({ model: compatible(id), prompt: "x" });
  expect([whole.reasoningText, whole.text]).toEqual(["Thought first", "Said"]);
  const stream = streamText({ model: compatible(id), prompt: "x" });
  expect([await stream.reasoningText, await stream.text]).toEqual(["Thought first", "Said"]);
});
