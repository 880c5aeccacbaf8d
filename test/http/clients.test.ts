import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { ChatOpenAI } from "@langchain/openai";
import { APICallError, generateText, streamText } from "ai";
import OpenAI, { toFile } from "openai";
import { beforeAll, describe, expect, test } from "vitest";
import { startService, type Service } from "./service.ts";

/* Real clients, unchanged. */

let service: Service;
beforeAll(async () => {
  service = await startService();
});

const png = Buffer.from("\x89PNG not really");
const pngUrl = `data:image/png;base64,${png.toString("base64")}`;
const script = "/reason Let me see\n/say one two three";

describe("the openai SDK", () => {
  const open = (maxRetries = 0) =>
    new OpenAI({ baseURL: service.chat, apiKey: service.credentials.api_key, maxRetries });

  test("chats, and goes on with a thread", async () => {
    const { data, response } = await open()
      .chat.completions.create({ model: "offline/echo", messages: [{ role: "user", content: "Hello" }] })
      .withResponse();
    expect(data.choices[0]!.message.content).toBe("Hello");
    expect(data.usage!.total_tokens).toBeGreaterThan(0);
    const headers = { "x-thread-id": response.headers.get("x-thread-id")! };
    const messages = [{ role: "user" as const, content: "More" }];
    const next = await open().chat.completions.create({ model: "offline/echo", messages }, { headers });
    expect(next.usage!.prompt_tokens).toBeGreaterThan(data.usage!.prompt_tokens);
  });

  test("streams through its helper, with usage", async () => {
    const stream = open().chat.completions.stream({
      model: "offline/scripted",
      messages: [{ role: "user", content: script }],
      stream_options: { include_usage: true },
    });
    const heard: string[] = [];
    stream.on("content", (delta) => heard.push(delta));
    const completion = await stream.finalChatCompletion();
    expect(heard.join("")).toBe("one two three");
    expect(completion.choices[0]!).toMatchObject({ finish_reason: "stop", message: { content: "one two three" } });
    expect(completion.usage!.completion_tokens).toBeGreaterThan(0);
  });

  test("parses a JSON answer", async () => {
    const schema = { type: "object", properties: { n: { type: "integer" } }, required: ["n"], additionalProperties: false };
    const completion = await open().chat.completions.parse({
      model: "offline/echo",
      messages: [{ role: "user", content: "A number" }],
      response_format: { type: "json_schema", json_schema: { name: "number", schema, strict: true } },
    });
    expect(completion.choices[0]!.message.parsed).toEqual({ n: expect.any(Number) });
  });

  test("uploads, attaches, reads and deletes a file", async () => {
    const client = open();
    const file = await client.files.create({ file: await toFile(Buffer.from("words"), "words.txt"), purpose: "user_data" });
    expect(await client.files.waitForProcessing(file.id)).toMatchObject({ id: file.id, status: "processed" });
    const answer = await client.chat.completions.create({
      model: "offline/echo",
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "See" },
            { type: "file", file: { file_id: file.id } },
            { type: "image_url", image_url: { url: pngUrl, detail: "low" } },
          ],
        },
      ],
    });
    expect(answer.choices[0]!.message.content).toMatch(/words\.txt[\s\S]*image\.png/);
    const listed: string[] = [];
    for await (const { id } of client.files.list()) listed.push(id);
    expect(listed).toEqual([file.id]);
    expect(await (await client.files.content(file.id)).text()).toBe("words");
    expect(await client.files.delete(file.id)).toEqual({ id: file.id, object: "file", deleted: true });
    await expect(client.files.retrieve(file.id)).rejects.toMatchObject({ status: 404, code: "file_not_found" });
  });

  test("lists and retrieves models", async () => {
    const client = open();
    expect((await client.models.list()).data.map(({ id }) => id)).toContain("offline/echo");
    expect(await client.models.retrieve("offline/echo")).toMatchObject({ id: "offline/echo", object: "model" });
  });

  test("tells errors by their class and code", async () => {
    const ask = (content: string, model = "offline/scripted") =>
      open(2).chat.completions.create({ model, messages: [{ role: "user", content }] });
    await expect(ask("x", "no/model")).rejects.toMatchObject({ status: 400, code: "model_not_found", param: "model" });
    await expect(ask("/fail 400")).rejects.toBeInstanceOf(OpenAI.InternalServerError);
    const stranger = new OpenAI({ baseURL: service.chat, apiKey: "sk-svc-wrong", maxRetries: 0 });
    await expect(stranger.models.list()).rejects.toBeInstanceOf(OpenAI.AuthenticationError);
  });

  test("hears of a failure within a stream", async () => {
    const stream = await open().chat.completions.create({
      model: "offline/scripted",
      messages: [{ role: "user", content: "/say a b c d\n/cut" }],
      stream: true,
    });
    const read = async () => {
      for await (const chunk of stream) expect(chunk.object).toBe("chat.completion.chunk");
    };
    await expect(read()).rejects.toBeInstanceOf(OpenAI.APIError);
  });
});

describe.each(["@ai-sdk/openai-compatible", "@ai-sdk/openai in chat mode"])("%s", (name) => {
  const model = (id: string) => {
    const settings = { baseURL: service.chat, apiKey: service.credentials.api_key };
    return name === "@ai-sdk/openai-compatible"
      ? createOpenAICompatible({ name: "svc", includeUsage: true, ...settings }).chatModel(id)
      : createOpenAI(settings).chat(id);
  };

  test("generates, with an image", async () => {
    const { text, usage, finishReason } = await generateText({
      model: model("offline/echo"),
      messages: [
        { role: "system", content: "Be kind" },
        {
          role: "user",
          content: [
            { type: "text", text: "See" },
            { type: "file", data: png, mediaType: "image/png" },
          ],
        },
      ],
      allowSystemInMessages: true,
    });
    expect(text).toContain("image.png");
    expect(finishReason).toBe("stop");
    expect(usage.totalTokens).toBeGreaterThan(0);
  });

  test("streams", async () => {
    const result = streamText({ model: model("offline/scripted"), prompt: script });
    const parts: string[] = [];
    for await (const part of result.textStream) parts.push(part);
    expect(parts.join("")).toBe("one two three");
    expect(parts.length).toBeGreaterThan(1);
    expect((await result.usage).outputTokens).toBeGreaterThan(0);
  });

  test("shows an error's message", async () => {
    const asked = generateText({ model: model("no/model"), prompt: "x", maxRetries: 0 });
    await expect(asked).rejects.toThrow(APICallError);
    await expect(generateText({ model: model("no/model"), prompt: "x", maxRetries: 0 })).rejects.toThrow(/no\/model/);
  });
});

describe("@langchain/openai", () => {
  const model = (id: string) =>
    new ChatOpenAI({
      model: id,
      apiKey: service.credentials.api_key,
      configuration: { baseURL: service.chat },
      maxRetries: 0,
    });

  test("invokes", async () => {
    const message = await model("offline/echo").invoke([
      ["system", "Be kind"],
      ["human", "Hello"],
    ]);
    expect(message.content).toBe("Hello");
    expect(message.usage_metadata!.total_tokens).toBeGreaterThan(0);
  });

  test("streams", async () => {
    const parts: string[] = [];
    for await (const chunk of await model("offline/scripted").stream(script)) parts.push(String(chunk.content));
    expect(parts.join("")).toBe("one two three");
  });

  test("hears errors", async () => {
    await expect(model("no/model").invoke("x")).rejects.toMatchObject({ status: 400 });
  });
});
