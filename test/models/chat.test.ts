import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { makeTool, signIn, TOOL } from "../agents/agents.ts";
import { PDF, PNG } from "../clients/deployment.ts";
import { toGoogleAnswer } from "../doubles/google/dialect.ts";
import { expectRefusal } from "../hostile/target.ts";
import { chunksOf, clientOf } from "../http/service.ts";
import { startPlatform } from "../platform.ts";
import { holdAfter, PROVIDERS, startProviders, type Provider } from "./providers.ts";

const started = await startProviders();
const providers = started.providers;
const platform = await startPlatform({ env: { ...started.env, PRIVATE_PROVIDER_HOSTS: "127.0.0.1" } });
const { api_key, admin } = await platform.organization();
const chat = clientOf({ chat: `${platform.url}/api/openai/v1` }, api_key);
const person = await signIn(platform.url, admin);
await makeTool(person);

test.each(["anthropic", "google"] as const)(
  "a second credential in the format of %s is used under its own name",
  async (format) => {
    const { dialect, url, reply, prompts } = providers[format];
    reply({ text: "Good day to you." });
    const settings = { api_key: dialect.apiKey, base_url: url, format };
    const put = await person.call("PUT", `/providers/${format}-2`, settings);
    expect(put.body, put.text).toMatchObject({ name: `${format}-2`, format });
    const answer = await complete(false, { model: `${format}-2/${dialect.model}`, messages: user("Hello") });
    expect(answer.content).toBe("Good day to you.");
    const [header, key] = dialect.keyHeader(dialect.apiKey);
    expect(prompts().at(-1)!.headers[header]).toBe(key);
  },
);

/** The answer to a request in one shape, whether it was buffered or streamed. */
async function complete(streamed: boolean, body: object, headers?: Record<string, string>) {
  const more = streamed ? { stream: true, stream_options: { include_usage: true } } : {};
  const answer = await chat("POST", "/chat/completions", { ...body, ...more }, headers);
  expect(answer.status, answer.text).toBe(200);
  if (streamed) expect(answer.text.endsWith("data: [DONE]\n\n")).toBe(true);
  const chunks = streamed ? chunksOf(answer.text) : [answer.body];
  const choices = chunks.flatMap((chunk) => chunk.choices);
  const messages = choices.map(({ delta, message }) => delta ?? message);
  return {
    thread: answer.headers.get("x-thread-id")!,
    content: messages.map(({ content }) => content ?? "").join(""),
    reasoning: messages.map(({ reasoning_content }) => reasoning_content ?? "").join(""),
    annotations: messages.flatMap(({ annotations }) => annotations ?? []),
    finish_reason: choices.at(-1).finish_reason,
    usage: chunks.at(-1).usage,
  };
}
const user = (content: unknown) => [{ role: "user", content }];
const offer = (...names: string[]) => names.map((name) => ({ type: "function", function: { name } }));

test("a thread that no longer fits into the model's context window continues with its newest turns", async () => {
  const { anthropic } = providers;
  anthropic.reply({ text: "Good day to you." });
  const first = await complete(false, { model: anthropic.model, messages: user("word ".repeat(190_000)) });
  for (const text of ["Again", "And again"])
    await complete(false, { model: anthropic.model, messages: user(text) }, { "x-thread-id": first.thread });
  const [, second, third] = anthropic.conversations();
  expect(second).toMatchObject({ texts: ["Again"] });
  expect(third).toMatchObject({ texts: ["Again", "Good day to you.", "And again"] });
});

test("the organization can set the context window of a model, and an alias has the smallest of its targets", async () => {
  const { openai } = providers;
  openai.reply({ text: "Good day to you." });
  const settings = { api_key: openai.dialect.apiKey, base_url: openai.url, models: ["small"] };
  const set = (context_windows: object) => person.call("PUT", "/providers/own", { ...settings, context_windows });
  expect((await set({ small: 10 })).body.error).toMatchObject({ param: "context_windows.small" });
  expect((await set({ small: 2_000 })).body).toMatchObject({ context_windows: { small: 2_000 } });
  await person.call("PUT", "/aliases/own", { targets: [{ model: openai.model }, { model: "own/small" }] });

  for (const model of ["own/small", "own"]) {
    const before = openai.conversations().length;
    const first = await complete(false, { model, messages: user("word ".repeat(1_700)) });
    await complete(false, { model, messages: user("Again") }, { "x-thread-id": first.thread });
    expect(openai.conversations().slice(before + 1)).toMatchObject([{ texts: ["Again"] }]);
  }
});

describe.each(PROVIDERS)("a chat completion of %s", (name) => {
  let provider: Provider;
  beforeAll(() => void (provider = providers[name]));
  beforeEach(() => provider.reply({ reasoning: "Somebody asks.", text: "Good day to you." }));

  describe.each([{ streamed: false }, { streamed: true }])("(streamed: $streamed)", ({ streamed }) => {
    test("has text, reasoning and usage, and the next completion continues the thread", async () => {
      const system = { role: "system", content: "Be brief." };
      const first = await complete(streamed, { model: provider.model, messages: [system, ...user("Hello")] });
      expect(first).toMatchObject({
        content: "Good day to you.",
        reasoning: "Somebody asks.",
        finish_reason: "stop",
        usage: { prompt_tokens: 12, completion_tokens: 7, total_tokens: 19 },
      });
      await complete(streamed, { model: provider.model, messages: user("Again") }, { "x-thread-id": first.thread });
      const [one, two] = provider.conversations();
      expect(one).toMatchObject({ instructions: "Be brief.", texts: ["Hello"] });
      expect(two).toMatchObject({ texts: ["Hello", "Good day to you.", "Again"] });
      expect(two!.instructions).toBeUndefined();
    });

    test("gets images and PDFs, also in a later turn", async () => {
      const content = [
        { type: "text", text: "What is this?" },
        { type: "image_url", image_url: { url: `data:image/png;base64,${PNG}` } },
        { type: "file", file: { filename: "a.pdf", file_data: `data:application/pdf;base64,${PDF}` } },
      ];
      const { thread } = await complete(streamed, { model: provider.model, messages: user(content) });
      const files = ["image/png", "application/pdf"];
      expect(provider.conversations().at(-1)).toMatchObject({ texts: ["What is this?"], files });
      await complete(streamed, { model: provider.model, messages: user("And now?") }, { "x-thread-id": thread });
      expect(JSON.stringify(provider.prompts().at(-1)!.body)).toContain(PNG);
    });

    test("calls tools, and returns the provider's own state with their results", async () => {
      const call = { name: TOOL, args: { text: "a" } };
      provider.reply({ reasoning: "I could repeat it.", text: "Let me see.", calls: [call] }, { text: "It says a." });
      const answer = await complete(streamed, {
        model: provider.model,
        messages: user("Repeat"),
        tools: offer(TOOL),
      });
      expect(answer).toMatchObject({
        content: "Let me see.\n\nIt says a.",
        finish_reason: "stop",
        usage: { prompt_tokens: 24, completion_tokens: 14 },
      });
      expect(provider.conversations()).toMatchObject([{ tools: [TOOL], state: [] }, { state: [expect.any(String)] }]);
    });

    test.each([429, 500, 400])("that gets the status %i is a 502 and leaves the thread unchanged", async (status) => {
      const { thread } = await complete(streamed, { model: provider.model, messages: user("Hello") });
      provider.reply({ status, body: provider.dialect.errorBody(status, "No.") });
      const again = { model: provider.model, messages: user("Again"), stream: streamed };
      expectRefusal(await chat("POST", "/chat/completions", again, { "x-thread-id": thread }), 502, undefined, null);
      provider.reply({ text: "Yes." });
      await complete(streamed, { model: provider.model, messages: user("Once more") }, { "x-thread-id": thread });
      expect(provider.conversations().at(-1)!.texts).toEqual(["Hello", "Good day to you.", "Once more"]);
    });
  });

  test("uses the deployment's key, or the organization's own", async () => {
    const { apiKey, keyHeader } = provider.dialect;
    const expectKey = async (key: string) => {
      await complete(false, { model: provider.model, messages: user("Hello") });
      const [header, value] = keyHeader(key);
      expect(provider.prompts().at(-1)!.headers[header]).toBe(value);
    };
    const own = { api_key: `${apiKey}-own`, base_url: provider.url };
    await expectKey(apiKey);
    expect((await person.call("PUT", `/providers/${name}`, own)).status).toBe(200);
    await expectKey(own.api_key);
    expect((await person.call("DELETE", `/providers/${name}`)).status).toBe(204);
    await expectKey(apiKey);
  });

  test("that hangs does not block other providers or the list of models", async () => {
    const others = PROVIDERS.filter((other) => other !== name).map((other) => providers[other]);
    const held = holdAfter(provider);
    const stuck = chat("POST", "/chat/completions", { model: provider.model, messages: user("Hello") });
    await expect.poll(() => held.open()).toBe(1);
    for (const { reply, model } of others) {
      reply({ text: "Here I am." });
      expect((await complete(true, { model, messages: user("Hello") })).content).toBe("Here I am.");
    }
    const ids = (await chat("GET", "/models")).body.data.map(({ id }: any) => id);
    expect(ids).toEqual(expect.arrayContaining(others.map(({ model }) => model)));
    expect(held.open()).toBe(1);
    provider.reply({ text: "At last." });
    held.end();
    expect((await stuck).body.choices[0].message.content).toBe("At last.");
  });
});

describe.each([{ streamed: false }, { streamed: true }])("web_fetch (streamed: $streamed)", ({ streamed }) => {
  const url = "https://example.com/menu";
  const pages = (pageList: { url: string; title?: string }[], ...answers: Parameters<typeof toGoogleAnswer>[0][]) =>
    (providers.google as any).answers(...answers.map((one) => ({ ...toGoogleAnswer(one), pages: pageList })));
  const offered = () => providers.google.prompts().at(-1)!.body.tools;

  test("is Google's own tool for a model of Google, with citations of the fetched pages", async () => {
    pages([{ url, title: "Menu" }], { text: "Soup." });
    const request = { model: providers.google.model, messages: user(`What is on ${url}?`), tools: offer("web_fetch") };
    const { content, annotations, finish_reason } = await complete(streamed, request);
    expect(offered()).toEqual([{ urlContext: {} }]);
    expect([content, finish_reason]).toEqual(["Soup.", "stop"]);
    expect(annotations).toEqual([
      { type: "url_citation", url_citation: { url, title: "Menu", start_index: 0, end_index: 5 } },
    ]);
  });

  test("of Google can be combined with other tools, with citations in each round", async () => {
    pages([{ url }], { text: "I see.", calls: [{ name: TOOL, args: {} }] }, { text: "Soup." });
    const request = { model: providers.google.model, messages: user(`Repeat ${url}`), tools: offer("web_fetch", TOOL) };
    const { content, annotations } = await complete(streamed, request);
    expect(offered()).toMatchObject([{ functionDeclarations: [{ name: TOOL }] }, { urlContext: {} }]);
    expect(content).toBe("I see.\n\nSoup.");
    expect(
      annotations.map(({ url_citation }: any) => content.slice(url_citation.start_index, url_citation.end_index)),
    ).toEqual(["I see.", "Soup."]);
  });

  test("is the service's own tool for a model of Anthropic", async () => {
    providers.anthropic.reply({ text: "Soup." });
    await complete(streamed, { model: providers.anthropic.model, messages: user("Hello"), tools: offer("web_fetch") });
    expect(providers.anthropic.conversations().at(-1)!.tools).toEqual(["web_fetch"]);
  });
});

test("the list of models has each provider's, with limits and capabilities", async () => {
  const { body } = await chat("GET", "/models");
  const ids = body.data.map(({ id }: any) => id);
  expect(ids).toEqual(expect.arrayContaining(["openai/gpt-test", "anthropic/claude-opus-5", "google/gemini-4-pro"]));
  expect((await chat("GET", "/models/anthropic/claude-opus-5")).body).toEqual({
    id: "anthropic/claude-opus-5",
    object: "model",
    created: Date.UTC(2026, 1, 1) / 1_000,
    owned_by: "anthropic",
    context_window: 200_000,
    max_output_tokens: 64_000,
    capabilities: ["image_input", "pdf_input", "reasoning", "structured_outputs"],
  });
  const unknown = { model: "google/gemini-9", messages: user("Hello") };
  expectRefusal(await chat("POST", "/chat/completions", unknown), 400, "model_not_found", "model");
});
