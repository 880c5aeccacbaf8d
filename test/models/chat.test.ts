import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { makeTool, signIn, TOOL } from "../agents/agents.ts";
import { PDF, PNG } from "../clients/deployment.ts";
import { expectRefusal } from "../hostile/target.ts";
import { clientOf } from "../http/service.ts";
import { startPlatform } from "../platform.ts";
import { PROVIDERS, startProviders, type Double } from "./providers.ts";

/* Chat completions of Anthropic's and Google's models, over HTTP. */

type Client = ReturnType<typeof clientOf>;
let doubles: Awaited<ReturnType<typeof startProviders>>;
let chat: Client;
let person: Awaited<ReturnType<typeof signIn>>;
beforeAll(async () => {
  doubles = await startProviders();
  const platform = await startPlatform({ env: { ...doubles.env, PRIVATE_PROVIDER_HOSTS: "127.0.0.1" } });
  const { api_key, admin } = await platform.organization();
  chat = clientOf({ chat: `${platform.url}/api/openai/v1` }, api_key);
  person = await signIn(platform.url, admin);
  await makeTool(person);
});

const chunksOf = (text: string): any[] =>
  text
    .split("\n\n")
    .filter((frame) => frame.startsWith("data: {"))
    .map((frame) => JSON.parse(frame.slice("data: ".length)));

/** The answer to a request, the same whether it came whole or in pieces. */
async function complete(streamed: boolean, body: object, headers?: Record<string, string>) {
  const more = streamed ? { stream: true, stream_options: { include_usage: true } } : {};
  const answer = await chat("POST", "/chat/completions", { ...body, ...more }, headers);
  expect(answer.status, answer.text).toBe(200);
  const thread = answer.headers.get("x-thread-id")!;
  if (!streamed) {
    const [{ message, finish_reason }] = answer.body.choices;
    const { content, reasoning_content, annotations = [] } = message;
    return {
      thread,
      content,
      reasoning: reasoning_content ?? "",
      annotations,
      finish_reason,
      usage: answer.body.usage,
    };
  }
  expect(answer.text.endsWith("data: [DONE]\n\n")).toBe(true);
  const chunks = chunksOf(answer.text);
  const choices = chunks.flatMap((chunk) => chunk.choices);
  return {
    thread,
    content: choices.map(({ delta }) => delta.content ?? "").join(""),
    reasoning: choices.map(({ delta }) => delta.reasoning_content ?? "").join(""),
    annotations: choices.flatMap(({ delta }) => delta.annotations ?? []),
    finish_reason: choices.at(-1).finish_reason,
    usage: chunks.at(-1).usage,
  };
}
const say = (content: unknown) => [{ role: "user", content }];
const offer = (...names: string[]) => names.map((name) => ({ type: "function", function: { name } }));

describe.each(PROVIDERS)("%s", (name) => {
  let double: Double;
  beforeAll(() => void (double = doubles[name]));
  beforeEach(() => double.answers({ thoughts: "Somebody asks.", text: "Good day to you." }));

  describe.each([{ streamed: false }, { streamed: true }])("streamed: $streamed", ({ streamed }) => {
    test("answers with its words, its thoughts and what they cost, and remembers the thread", async () => {
      const system = { role: "system", content: "Be brief." };
      const first = await complete(streamed, { model: double.model, messages: [system, ...say("Hello")] });
      expect(first).toMatchObject({
        content: "Good day to you.",
        reasoning: "Somebody asks.",
        finish_reason: "stop",
        usage: { prompt_tokens: 12, completion_tokens: 7, total_tokens: 19 },
      });
      await complete(streamed, { model: double.model, messages: say("Again") }, { "x-thread-id": first.thread });
      const [one, two] = double.asked();
      expect(one).toMatchObject({ instructions: "Be brief.", texts: ["Hello"] });
      expect(two).toMatchObject({ texts: ["Hello", "Good day to you.", "Again"] });
      expect(two!.instructions).toBeUndefined();
    });

    test("sees images and PDFs, also in a later turn", async () => {
      const content = [
        { type: "text", text: "What is this?" },
        { type: "image_url", image_url: { url: `data:image/png;base64,${PNG}` } },
        { type: "file", file: { filename: "a.pdf", file_data: `data:application/pdf;base64,${PDF}` } },
      ];
      const { thread } = await complete(streamed, { model: double.model, messages: say(content) });
      expect(double.asked().at(-1)).toMatchObject({
        texts: ["What is this?"],
        files: ["image/png", "application/pdf"],
      });
      await complete(streamed, { model: double.model, messages: say("And now?") }, { "x-thread-id": thread });
      const { body } = double.requests.filter(({ method }) => method === "POST").at(-1) as any;
      expect(JSON.stringify(body)).toContain(PNG);
    });

    test("calls tools, and gets its own state back with their results", async () => {
      double.answers(
        { thoughts: "I could repeat it.", text: "Let me see.", call: { name: TOOL, args: { text: "a" } } },
        { text: "It says a." },
      );
      const answer = await complete(streamed, { model: double.model, messages: say("Repeat"), tools: offer(TOOL) });
      expect(answer).toMatchObject({
        content: "Let me see.\n\nIt says a.",
        finish_reason: "stop",
        usage: { prompt_tokens: 24, completion_tokens: 14 },
      });
      const [one, two] = double.asked();
      expect([one!.tools, one!.state]).toEqual([[TOOL], []]);
      expect(two!.state).toHaveLength(1);
      expect(double.asked()).toHaveLength(2);
    });

    test.each([429, 500, 400])("that answers %i is a 502, and the thread is as it was", async (status) => {
      const { thread } = await complete(streamed, { model: double.model, messages: say("Hello") });
      double.refuses(status);
      const again = { model: double.model, messages: say("Again"), stream: streamed };
      expectRefusal(await chat("POST", "/chat/completions", again, { "x-thread-id": thread }), 502, undefined, null);
      double.answers({ text: "Yes." });
      await complete(streamed, { model: double.model, messages: say("Once more") }, { "x-thread-id": thread });
      expect(double.asked().at(-1)!.texts).toEqual(["Hello", "Good day to you.", "Once more"]);
    });
  });

  test("is asked with the deployment's key, or with the organization's own", async () => {
    const path = `/providers/${double.provider}`;
    const key = double.provider === "google" ? "AIza-own" : "sk-ant-own";
    const base_url = doubles.env[double.provider === "google" ? "GEMINI_BASE_URL" : "ANTHROPIC_BASE_URL"];
    const seen = async () => {
      await complete(false, { model: double.model, messages: say("Hello") });
      const { headers } = double.requests.filter(({ method }) => method === "POST").at(-1)!;
      return String(headers["x-goog-api-key"] ?? headers["authorization"]);
    };
    expect(await seen()).toContain("deployment");
    expect((await person.call("PUT", path, { api_key: key, base_url })).status).toBe(200);
    expect(await seen()).toContain(key);
    expect((await person.call("DELETE", path)).status).toBe(204);
    expect(await seen()).toContain("deployment");
  });

  test("that hangs keeps neither another's chat nor the list of models waiting", async () => {
    const others = PROVIDERS.filter((other) => other !== name);
    const hanging = double.hangsAfter();
    const stuck = chat("POST", "/chat/completions", { model: double.model, messages: say("Hello") });
    await expect.poll(() => hanging.open()).toBe(1);
    for (const other of others) {
      doubles[other].answers({ text: "Here I am." });
      const { content } = await complete(true, { model: doubles[other].model, messages: say("Hello") });
      expect(content).toBe("Here I am.");
    }
    const { body } = await chat("GET", "/models");
    const theirs = others.map((other) => doubles[other].model);
    expect(body.data.map(({ id }: any) => id)).toEqual(expect.arrayContaining(theirs));
    expect(hanging.open()).toBe(1);
    double.answers({ text: "At last." });
    hanging.end();
    expect((await stuck).body.choices[0].message.content).toBe("At last.");
  });
});

describe.each([{ streamed: false }, { streamed: true }])("pages, streamed: $streamed", ({ streamed }) => {
  const url = "https://example.com/menu";

  test("Google reads them itself where web_fetch is named, and cites them", async () => {
    doubles.google.reads([{ url, title: "Menu" }], { text: "Soup." });
    const asked = { model: "google/gemini-4-pro", messages: say(`What is on ${url}?`), tools: offer("web_fetch") };
    const { content, annotations, finish_reason } = await complete(streamed, asked);
    expect(doubles.google.offered()).toEqual([{ urlContext: {} }]);
    expect([content, finish_reason]).toEqual(["Soup.", "stop"]);
    expect(annotations).toEqual([
      { type: "url_citation", url_citation: { url, title: "Menu", start_index: 0, end_index: 5 } },
    ]);
  });

  test("beside other tools, between which its own findings come back", async () => {
    doubles.google.reads([{ url }], { text: "I see.", call: { name: TOOL, args: {} } }, { text: "Soup." });
    const asked = { model: "google/gemini-4-pro", messages: say(`Repeat ${url}`), tools: offer("web_fetch", TOOL) };
    const { content, annotations } = await complete(streamed, asked);
    expect(doubles.google.offered()).toMatchObject([{ functionDeclarations: [{ name: TOOL }] }, { urlContext: {} }]);
    expect(content).toBe("I see.\n\nSoup.");
    expect(
      annotations.map(({ url_citation }: any) => content.slice(url_citation.start_index, url_citation.end_index)),
    ).toEqual(["I see.", "Soup."]);
  });

  test("Anthropic is offered the tool that reads them", async () => {
    doubles.anthropic.answers({ text: "Soup." });
    await complete(streamed, { model: "anthropic/claude-opus-5", messages: say("Hello"), tools: offer("web_fetch") });
    expect(doubles.anthropic.asked().at(-1)!.tools).toEqual(["web_fetch"]);
  });
});

test("the list of models has each provider's, with limits and what they can do", async () => {
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
  const unknown = { model: "google/gemini-9", messages: say("Hello") };
  expectRefusal(await chat("POST", "/chat/completions", unknown), 400, "model_not_found", "model");
});
