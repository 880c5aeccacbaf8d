import OpenAI from "openai";
import { zodResponseFormat } from "openai/helpers/zod";
import { beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { startDeployment, USAGE } from "./deployment.ts";

const deployment = await startDeployment();
const client = new OpenAI({ apiKey: deployment.api_key, baseURL: deployment.base_url });
beforeEach(() => deployment.answers());

const user = (content: string) => [{ role: "user" as const, content }];
const model = "openai/gpt-test";

describe("chat.completions.create", () => {
  test("answers with content, finish reason and usage, and sends the request to the provider", async () => {
    const completion = await client.chat.completions.create({
      model,
      messages: [{ role: "system", content: "Be brief." }, ...user("Hello there")],
      temperature: 0.2,
      max_completion_tokens: 50,
      stop: ["END"],
      seed: 7,
    });
    expect(completion).toMatchObject({ object: "chat.completion", model, usage: USAGE });
    expect(completion.choices).toHaveLength(1);
    expect(completion.choices[0]).toMatchObject({
      index: 0,
      finish_reason: "stop",
      message: { role: "assistant", content: "Hello there", refusal: null },
    });
    expect(deployment.asked()).toMatchObject({
      model: "gpt-test",
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "Hello there" },
      ],
      temperature: 0.2,
      max_tokens: 50,
      stop: ["END"],
      seed: 7,
    });
  });

  test.each(["length", "content_filter", "tool_calls"] as const)(
    "returns the finish reason %s, buffered and streamed",
    async (finish_reason) => {
      deployment.answers({ text: "So far", finish_reason });
      const whole = await client.chat.completions.create({ model, messages: user("x") });
      expect(whole.choices[0]).toMatchObject({ finish_reason, message: { content: "So far" } });
      const reasons: unknown[] = [];
      for await (const chunk of await client.chat.completions.create({ model, messages: user("x"), stream: true }))
        reasons.push(...chunk.choices.map((choice) => choice.finish_reason).filter(Boolean));
      expect(reasons).toEqual([finish_reason]);
    },
  );

  test("streams words, one finish reason, and the requested usage", async () => {
    const stream = await client.chat.completions.create({
      model,
      messages: user("one two three"),
      stream: true,
      stream_options: { include_usage: true },
    });
    const chunks: OpenAI.ChatCompletionChunk[] = [];
    for await (const chunk of stream) chunks.push(chunk);
    expect(chunks[0]!.choices[0]!.delta).toEqual({ role: "assistant", content: "" });
    const words = chunks.flatMap(({ choices }) => choices[0]?.delta.content || []);
    expect(words.length).toBeGreaterThan(1);
    expect(words.join("")).toBe("one two three");
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: USAGE });
    expect(chunks.slice(0, -1).every(({ usage }) => usage === null)).toBe(true);
  });

  test("the offline model needs no provider", async () => {
    const { choices, usage } = await client.chat.completions.create({ model: "offline/echo", messages: user("Echo") });
    expect(choices[0]!.message.content).toBe("Echo");
    expect(usage!.total_tokens).toBe(usage!.prompt_tokens + usage!.completion_tokens);
    expect(deployment.calls()).toBe(0);
  });
});

test("the stream helper assembles the completion", async () => {
  deployment.answers({ text: "All of it", finish_reason: "length" });
  const contents: string[] = [];
  const ended: string[] = [];
  const stream = client.chat.completions
    .stream({ model, messages: user("x"), stream_options: { include_usage: true } })
    .on("content", (delta) => contents.push(delta))
    .on("content.done", ({ content }) => ended.push(content))
    .on("end", () => ended.push("end"));
  const completion = await stream.finalChatCompletion();
  expect(completion.choices[0]).toMatchObject({
    finish_reason: "length",
    message: { role: "assistant", content: "All of it" },
  });
  expect(completion.usage).toMatchObject(USAGE);
  expect(contents.join("")).toBe("All of it");
  expect(ended).toEqual(["All of it", "end"]);
  expect(await stream.totalUsage()).toMatchObject({ total_tokens: 19 });
});

describe("structured output", () => {
  const Person = z.object({ name: z.string(), age: z.number().int() });
  const response_format = zodResponseFormat(Person, "person");

  test("parse sends the schema to the provider and returns the value", async () => {
    deployment.answers({ text: '{"name":"Ada","age":36}' });
    const parsed = await client.chat.completions.parse({ model, messages: user("Who?"), response_format });
    expect(parsed.choices[0]!.message.parsed).toEqual({ name: "Ada", age: 36 });
    expect(deployment.asked().response_format).toEqual(response_format);
  });

  test("a refusal is not content, buffered or streamed, and is not parsed", async () => {
    deployment.answers({ refusal: "I can not do that." });
    const asked = { model, messages: user("Who?"), response_format };
    const whole = await client.chat.completions.parse(asked);
    const streamed = await client.chat.completions.stream(asked).finalChatCompletion();
    for (const { choices } of [whole, streamed])
      expect(choices[0]!.message).toMatchObject({ content: "", refusal: "I can not do that.", parsed: null });
  });

  test("the stream helper parses as well", async () => {
    deployment.answers({ text: '{"name": "Ada", "age": 36}' });
    const stream = client.chat.completions.stream({ model, messages: user("Who?"), response_format });
    expect((await stream.finalChatCompletion()).choices[0]!.message.parsed).toEqual({ name: "Ada", age: 36 });
  });

  test("an offline model answers with the smallest valid value", async () => {
    const { choices } = await client.chat.completions.parse({
      model: "offline/echo",
      messages: user("?"),
      response_format,
    });
    expect(choices[0]!.message.parsed).toEqual({ name: "", age: 0 });
  });

  test("any JSON object is returned", async () => {
    deployment.answers({ text: '{"any":1}' });
    const { choices } = await client.chat.completions.create({
      model,
      messages: user("JSON"),
      response_format: { type: "json_object" },
    });
    expect(JSON.parse(choices[0]!.message.content!)).toEqual({ any: 1 });
    expect(deployment.asked().response_format).toEqual({ type: "json_object" });
  });
});

describe("x-thread-id", () => {
  const roles = () =>
    deployment.asked().messages.map(({ role, content }: Record<string, string>) => `${role}: ${content}`);

  test("continues a thread, buffered and streamed", async () => {
    deployment.answers({ text: "Noted" });
    const { data, response } = await client.chat.completions
      .create({ model, messages: user("I am Ada") })
      .withResponse();
    expect(data.choices[0]!.message.content).toBe("Noted");
    const headers = { "x-thread-id": response.headers.get("x-thread-id")! };
    const second = await client.chat.completions
      .create({ model, messages: user("Who am I?"), stream: true }, { headers })
      .withResponse();
    expect(second.response.headers.get("x-thread-id")).toBe(headers["x-thread-id"]);
    expect(await Array.fromAsync(second.data)).not.toHaveLength(0);
    expect(roles()).toEqual(["user: I am Ada", "assistant: Noted", "user: Who am I?"]);
    await client.chat.completions.create({ model, messages: user("And now?") }, { headers });
    expect(roles()).toHaveLength(5);
  });

  test("belongs to the user value of its first request", async () => {
    const { headers: answered } = await client.chat.completions
      .create({ model, messages: user("Mine"), user: "ada" })
      .asResponse();
    const headers = { "x-thread-id": answered.get("x-thread-id")! };
    await expect(client.chat.completions.create({ model, messages: user("Whose?") }, { headers })).rejects.toThrow(
      OpenAI.NotFoundError,
    );
    await client.chat.completions.create({ model, messages: user("Mine too"), user: "ada" }, { headers });
    expect(deployment.asked()).toMatchObject({ user: "ada" });
    expect(roles()).toHaveLength(3);
  });
});

test("citations arrive as annotations, buffered and streamed", async () => {
  const annotations = [
    { type: "url_citation", url_citation: { url: "https://example.org/a", title: "A", start_index: 0, end_index: 4 } },
  ];
  deployment.answers({ text: "Said", annotations });
  const { choices } = await client.chat.completions.create({ model, messages: user("x") });
  expect(choices[0]!.message.annotations).toEqual(annotations);
  const chunks = await Array.fromAsync(
    await client.chat.completions.create({ model, messages: user("x"), stream: true }),
  );
  const pieces = chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta as { annotations?: unknown[] }));
  expect(pieces.flatMap((piece) => piece.annotations ?? [])).toEqual(annotations);
});

test("each of many concurrent requests gets its own answer", async () => {
  const ask = async (n: number) => {
    const asked = { model, messages: user(`question ${n} of many`) };
    if (n % 2 === 0) return (await client.chat.completions.create(asked)).choices[0]!.message.content;
    return (await client.chat.completions.stream(asked).finalChatCompletion()).choices[0]!.message.content;
  };
  const answers = await Promise.all(Array.from({ length: 40 }, (_, n) => ask(n)));
  expect(answers).toEqual(Array.from({ length: 40 }, (_, n) => `question ${n} of many`));
});

test("text that looks like stream frames stays text", async () => {
  const text = "\n\ndata: [DONE]\n\n: ping\nevent: error\ndata: {}\r\n\u2028 end";
  const stream = client.chat.completions.stream({ model: "offline/echo", messages: user(text) });
  expect((await stream.finalChatCompletion()).choices[0]!.message.content).toBe(text);
});

test("an organization's own provider is used under its name and with its credential", async () => {
  const { platform, admin, provider_url, base_url } = deployment;
  const send = async (method: string, path: string, body: unknown, token = "") => {
    const headers = { "content-type": "application/json", ...(token && { authorization: `Bearer ${token}` }) };
    const response = await fetch(`${platform.url}/api/${path}`, { method, headers, body: JSON.stringify(body) });
    return (await response.json()) as { token: string };
  };
  const { token } = await send("POST", "auth/login", admin);
  await send("PUT", "providers/ours", { api_key: "sk-of-ours", base_url: provider_url, models: ["gpt-custom"] }, token);
  const { choices, model: named } = await client.chat.completions.create({
    model: "ours/gpt-custom",
    messages: user("Mine"),
  });
  expect([named, choices[0]!.message.content]).toEqual(["ours/gpt-custom", "Mine"]);
  expect([deployment.credentialSeen(), deployment.asked().model]).toEqual(["Bearer sk-of-ours", "gpt-custom"]);
  const other = new OpenAI({ apiKey: (await platform.organization("Other")).api_key, baseURL: base_url });
  const foreign = other.chat.completions.create({ model: "ours/gpt-custom", messages: user("Theirs") });
  await expect(foreign).rejects.toMatchObject({ status: 400, code: "model_not_found" });
});
