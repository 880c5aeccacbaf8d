import { createOpenAI } from "@ai-sdk/openai";
import { generateText, streamText, ToolLoopAgent } from "ai";
import { beforeAll, describe, expect, test } from "vitest";
import { startAgents, TOOL, type Agents } from "../agents/agents.ts";
import { checkedFetch } from "../agents/checkedFetch.ts";

globalThis.AI_SDK_LOG_WARNINGS = false;
let agents: Agents;
beforeAll(async () => {
  agents = await startAgents();
});

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

const SAID = "Here you are.";
describe.each([
  ["without tools", {}, `/reason Let me think.\n/say ${SAID}`],
  ["with tools", { tools: [TOOL] }, `/tool ${TOOL} {"text":"x"}\n/say ${SAID}`],
  [
    "with several calls and rounds",
    { tools: [TOOL] },
    `/tool ${TOOL} {"text":"x"}\n/tool ${TOOL} {}\n/rounds 2\n/say ${SAID}`,
  ],
  ["with tools that fail", { tools: [TOOL] }, `/tool ${TOOL} {"fail":true}\n/say ${SAID}`],
  ["with tools that it keeps to itself", { tools: [TOOL], expose_tool_items: false }, `/tool ${TOOL} {}\n/say ${SAID}`],
])("an agent %s", (kind, settings, prompt) => {
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
    const model = modelOf(await agents.agent(settings));
    const whole = await generateText({ model, prompt });
    expect([whole.text, whole.usage.totalTokens! > 0]).toEqual([SAID, true]);
    const stream = streamText({ model, prompt });
    expect((await Array.fromAsync(stream.textStream)).join("")).toBe(SAID);
    expect((await stream.usage).totalTokens).toBeGreaterThan(0);
    if (kind === "without tools") {
      expect([whole.reasoningText, whole.finishReason]).toEqual(["Let me think.", "stop"]);
      expect([await stream.reasoningText, await stream.finishReason]).toEqual(["Let me think.", "stop"]);
    }
  });
});

test("a thread goes on by the response before", async () => {
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

test("sources of an answer, whole and streamed", async () => {
  const annotations = [
    { type: "url_citation", url_citation: { url: "https://example.org/a", title: "A", start_index: 0, end_index: 4 } },
  ];
  agents.answers({ text: "Said", annotations });
  const model = modelOf(await agents.agent({ model: "openai/gpt-test" }));
  const shown = [{ sourceType: "url", url: "https://example.org/a", title: "A" }];
  expect((await generateText({ model, prompt: "x" })).sources).toMatchObject(shown);
  expect(await streamText({ model, prompt: "x" }).sources).toMatchObject(shown);
});

test("a turn that fails is seen, whole and streamed", async () => {
  const model = modelOf(await agents.agent());
  const error = await generateText({ model, prompt: "/fail 400", maxRetries: 0 }).catch((thrown: unknown) => thrown);
  expect(String(error)).toContain("400");
  let told: unknown;
  const stream = streamText({ model, prompt: "/fail 400", maxRetries: 0, onError: ({ error }) => void (told = error) });
  await stream.consumeStream();
  expect(JSON.stringify(told) + String(told)).toContain("400");
});
