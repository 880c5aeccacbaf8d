import { createOpenAI } from "@ai-sdk/openai";
import {
  convertToModelMessages,
  generateText,
  readUIMessageStream,
  streamText,
  ToolLoopAgent,
  toUIMessageStream,
  type ModelMessage,
  type UIMessage,
} from "ai";
import { describe, expect, test } from "vitest";
import { startAgents, TOOL } from "../agents/agents.ts";
import { checkedFetch } from "../agents/checkedFetch.ts";
import { AGENTS, generateAndStream, SAID } from "./aiSdkAgents.ts";

globalThis.AI_SDK_LOG_WARNINGS = false;
const agents = await startAgents();

const modelOf = (agent: string) =>
  createOpenAI({
    baseURL: `${agents.url}/api/agents/${agent}/v1`,
    apiKey: agents.api_key,
    fetch: checkedFetch,
  }).responses("any");
const turnsOf = async (agent: string): Promise<number> => {
  const sql = "select data from log.events where type = 'TurnStarted'";
  const rows = await agents.db.query<{ data: string }>(sql);
  return rows.filter(({ data }) => JSON.parse(data).agent?.agent_id === agent).length;
};

describe.each(AGENTS)("an agent %s", (kind, settings, prompt) => {
  test("ToolLoopAgent: one turn and no loop, whole and streamed", async () => {
    const agent = await agents.agent(settings);
    const loop = new ToolLoopAgent({ model: modelOf(agent) });
    const { text, steps } = await loop.generate({ prompt });
    expect(text).toBe(SAID);
    expect(steps.length).toBeLessThanOrEqual(2);
    expect(await turnsOf(agent)).toBe(1);
    const stream = await loop.stream({ prompt });
    expect(await Array.fromAsync(stream.textStream)).not.toEqual([]);
    expect(await stream.text).toBe(SAID);
    expect(await turnsOf(agent)).toBe(2);
  });

  test("generateText and streamText", async () => {
    const { whole, stream } = await generateAndStream(modelOf(await agents.agent(settings)), prompt);
    if (kind === "without tools") {
      expect([whole.reasoningText, whole.finishReason]).toEqual(["Let me think.", "stop"]);
      expect([await stream.reasoningText, await stream.finishReason]).toEqual(["Let me think.", "stop"]);
    }
  });
});

test("a thread continues with previous_response_id", async () => {
  const model = modelOf(await agents.agent({ model: "openai/gpt-test" }));
  agents.answers();
  const first = await generateText({ model, prompt: "I am Ada" });
  const previousResponseId = first.providerMetadata!["openai"]!["responseId"] as string;
  const { text } = await generateText({
    model,
    prompt: "Still me",
    providerOptions: { openai: { previousResponseId } },
  });
  expect(text).toBe("Still me");
  expect(agents.asked().messages).toHaveLength(3);
});

describe("a conversation that the client keeps", () => {
  test("keeps the model's own answers on every turn", async () => {
    const model = modelOf(await agents.agent({ model: "openai/gpt-test" }));
    agents.answers({ text: "Hello Ada." }, { text: "You are Ada." }, { text: "Bye." });
    const messages: ModelMessage[] = [];
    for (const content of ["I am Ada", "Who am I?", "Bye"]) {
      messages.push({ role: "user", content });
      messages.push(...(await generateText({ model, messages })).response.messages);
    }
    expect(agents.asked().messages).toEqual([
      { role: "user", content: "I am Ada" },
      { role: "assistant", content: "Hello Ada." },
      { role: "user", content: "Who am I?" },
      { role: "assistant", content: "You are Ada." },
      { role: "user", content: "Bye" },
    ]);
  });

  test("useChat: an agent with tools shows its answers, continues, and leaves no call open", async () => {
    const model = modelOf(await agents.agent({ model: "openai/gpt-test", tools: [TOOL] }));
    agents.answers(
      { tool_calls: [{ name: TOOL, arguments: { text: "x" } }] },
      { text: "Hello Ada." },
      { text: "You are Ada." },
    );
    const messages: UIMessage[] = [];
    for (const text of ["I am Ada", "Who am I?"]) {
      messages.push({ id: text, role: "user", parts: [{ type: "text", text }] });
      const { stream } = streamText({ model, messages: await convertToModelMessages(messages) });
      const shown = await Array.fromAsync(readUIMessageStream({ stream: toUIMessageStream({ stream }) }));
      messages.push(shown.at(-1)!);
    }
    const texts = messages.map(({ parts }) => parts.flatMap((part) => (part.type === "text" ? [part.text] : [])));
    expect(texts).toEqual([["I am Ada"], ["Hello Ada."], ["Who am I?"], ["You are Ada."]]);
    expect(messages.flatMap(({ parts }) => parts.filter(({ type }) => type.includes("tool")))).toEqual([]);
    expect(agents.asked().messages.map(({ content }: { content: string }) => content)).toEqual([
      "I am Ada",
      "Hello Ada.",
      "Who am I?",
    ]);
  });
});

test("sources of an answer, buffered and streamed", async () => {
  const annotations = [
    { type: "url_citation", url_citation: { url: "https://example.org/a", title: "A", start_index: 0, end_index: 4 } },
  ];
  agents.answers({ text: "Said", annotations });
  const model = modelOf(await agents.agent({ model: "openai/gpt-test" }));
  const shown = [{ sourceType: "url", url: "https://example.org/a", title: "A" }];
  expect((await generateText({ model, prompt: "x" })).sources).toMatchObject(shown);
  expect(await streamText({ model, prompt: "x" }).sources).toMatchObject(shown);
});

test("a turn that fails is reported, buffered and streamed", async () => {
  const model = modelOf(await agents.agent());
  const error = await generateText({ model, prompt: "/fail 400", maxRetries: 0 }).catch((thrown: unknown) => thrown);
  expect(String(error)).toContain("400");
  let reported: unknown;
  const onError = ({ error }: { error: unknown }) => void (reported = error);
  const stream = streamText({ model, prompt: "/fail 400", maxRetries: 0, onError });
  await stream.consumeStream();
  expect(JSON.stringify(reported) + String(reported)).toContain("400");
});
