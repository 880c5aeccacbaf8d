import { ChatOpenAI } from "@langchain/openai";
import { beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { COUNTED, PDF, PNG, startDeployment } from "./deployment.ts";

const deployment = await startDeployment();
beforeEach(() => deployment.answers());

const open = (options: ConstructorParameters<typeof ChatOpenAI>[0] = {}) =>
  new ChatOpenAI({
    model: "openai/gpt-test",
    apiKey: deployment.api_key,
    configuration: { baseURL: deployment.base_url },
    ...options,
  });
const usage = {
  input_tokens: 30,
  output_tokens: 20,
  total_tokens: 50,
  input_token_details: { cache_read: 10 },
  output_token_details: { reasoning: 5 },
};

test("invoke: content, reason and usage", async () => {
  deployment.answers({ text: "So far", finish_reason: "length", usage: COUNTED });
  const message = await open({ temperature: 0.3, maxTokens: 9 }).invoke([
    ["system", "Be brief"],
    ["user", "Hello"],
  ]);
  expect(message.content).toBe("So far");
  expect(message.response_metadata).toMatchObject({ finish_reason: "length", model_name: "openai/gpt-test" });
  expect(message.usage_metadata).toMatchObject(usage);
  expect(message.id).toMatch(/^chatcmpl-/);
  expect(deployment.asked()).toMatchObject({
    temperature: 0.3,
    max_tokens: 9,
    messages: [
      { role: "system", content: "Be brief" },
      { role: "user", content: "Hello" },
    ],
  });
});

test("stream: words that form the whole text, one finish reason, usage once", async () => {
  deployment.answers({ text: "one two three", usage: COUNTED });
  const chunks = await Array.fromAsync(await open().stream("Hello"));
  expect(chunks.filter(({ content }) => content !== "").length).toBeGreaterThan(1);
  const whole = chunks.reduce((sum, chunk) => sum.concat(chunk));
  expect(whole.content).toBe("one two three");
  expect(whole.usage_metadata).toMatchObject(usage);
  expect(chunks.filter(({ response_metadata }) => response_metadata.finish_reason === "stop")).toHaveLength(1);
});

test("images and files", async () => {
  const content = [
    { type: "text" as const, text: "Look" },
    { type: "image_url" as const, image_url: { url: `data:image/png;base64,${PNG}` } },
    { type: "file" as const, file: { filename: "a.pdf", file_data: `data:application/pdf;base64,${PDF}` } },
  ];
  deployment.answers({ text: "Seen" });
  expect((await open().invoke([{ role: "user", content }])).content).toBe("Seen");
  expect(deployment.asked().messages[0].content).toEqual(content);
});

test("withStructuredOutput by JSON schema", async () => {
  const schema = z.object({ name: z.string(), age: z.number() });
  deployment.answers({ text: '{"name":"Ada","age":36}' });
  const model = open().withStructuredOutput(schema, { name: "person", method: "jsonSchema" });
  expect(await model.invoke("Who?")).toEqual({ name: "Ada", age: 36 });
  expect(deployment.asked().response_format).toMatchObject({
    type: "json_schema",
    json_schema: { name: "person", strict: true },
  });
});

test("withStructuredOutput by JSON mode", async () => {
  deployment.answers({ text: '{"a":1}' });
  const model = open().withStructuredOutput(z.object({ a: z.number() }), { method: "jsonMode" });
  expect(await model.invoke("JSON")).toEqual({ a: 1 });
  expect(deployment.asked().response_format).toEqual({ type: "json_object" });
});

test("refusals are reported and not retried", async () => {
  const unknown = await open({ model: "openai/gpt-none" })
    .invoke("x")
    .catch((error: unknown) => error);
  expect(unknown).toMatchObject({ status: 400, code: "model_not_found", param: "model" });
  expect((unknown as Error).message).toContain('no model "openai/gpt-none"');
  const stranger = await open({ apiKey: "sk-svc-nobody" })
    .invoke("x")
    .catch((error: unknown) => error);
  expect(stranger).toMatchObject({ status: 401 });
  expect((stranger as Error).message).toContain("API key is unknown");
  expect(deployment.calls()).toBe(0);
});

test("a failing provider: the client's own retries, then its message", async () => {
  deployment.answers({ status: 400, body: { error: { message: "I am ill" } } });
  const error = await open({ maxRetries: 1 })
    .invoke("x")
    .catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ status: 502, message: expect.stringContaining("I am ill") });
  expect(deployment.calls()).toBe(2);
});

test("a broken stream throws after the text that was received", async () => {
  deployment.answers({ text: "Half of", cut: "after-text" });
  const heard: string[] = [];
  const reading = (async () => {
    for await (const { text } of await open().stream("x")) heard.push(text);
  })();
  await expect(reading).rejects.toThrow("broke off");
  expect(heard.join("")).toBe("Half of");
});
