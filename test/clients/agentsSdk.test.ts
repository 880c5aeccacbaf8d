import { Agent, OpenAIResponsesModel, Runner, setTracingDisabled } from "@openai/agents";
import OpenAI from "openai";
import { describe, expect, test } from "vitest";
import { startAgents, TOOL } from "../agents/agents.ts";
import { checkedFetch } from "../agents/checkedFetch.ts";

setTracingDisabled(true);
const agents = await startAgents();

async function open(settings: object) {
  const agent_id = await agents.agent(settings);
  const client = new OpenAI({
    apiKey: agents.api_key,
    baseURL: `${agents.url}/api/agents/${agent_id}/v1`,
    maxRetries: 0,
    fetch: checkedFetch,
  });
  return new Agent({ name: "Ours", instructions: "Be brief.", model: new OpenAIResponsesModel(client, "any") });
}

const SAID = "Here you are.";
describe.each([
  ["without tools", {}, `/reason Let me think.\n/say ${SAID}`],
  ["with tools", { tools: [TOOL] }, `/tool ${TOOL} {"text":"x"}\n/tool ${TOOL} {}\n/rounds 2\n/say ${SAID}`],
  [
    "with tools that it keeps to itself",
    { tools: [TOOL], expose_tool_items: false },
    `/tool ${TOOL} {"text":"x"}\n/say ${SAID}`,
  ],
])("an agent %s", (_, settings, input) => {
  test("run, buffered and streamed: one turn", async () => {
    const agent = await open(settings);
    const runner = new Runner();
    const before = await agents.count("TurnStarted");
    const { finalOutput, rawResponses } = await runner.run(agent, input);
    expect(finalOutput).toBe(SAID);
    expect(rawResponses).toHaveLength(1);
    const stream = await runner.run(agent, input, { stream: true });
    const words: string[] = [];
    for await (const event of stream)
      if (event.type === "raw_model_stream_event" && event.data.type === "output_text_delta")
        words.push(event.data.delta);
    await stream.completed;
    expect([stream.finalOutput, words.join("")]).toEqual([SAID, SAID]);
    expect(await agents.count("TurnStarted")).toBe(before + 2);
  });
});

test("a conversation continues with previous_response_id and the caller's instructions", async () => {
  agents.answers();
  const agent = await open({ model: "openai/gpt-test", instructions: "You are Ada's." });
  const runner = new Runner();
  const first = await runner.run(agent, "I am Ada");
  const { finalOutput } = await runner.run(agent, "Still me", { previousResponseId: first.lastResponseId! });
  expect(finalOutput).toBe("Still me");
  expect(agents.asked().messages).toEqual([
    { role: "system", content: "You are Ada's.\n\nBe brief." },
    { role: "user", content: "I am Ada" },
    { role: "assistant", content: "I am Ada" },
    { role: "user", content: "Still me" },
  ]);
});

test("an agent's tool runs once, and the conversation that the client keeps continues", async () => {
  const agent = await open({ tools: [TOOL] });
  const before = await agents.count("ToolFinished");
  const first = await new Runner().run(agent, `/tool ${TOOL} {}\n/say ${SAID}`);
  expect(await agents.count("ToolFinished")).toBe(before + 1);
  const second = await new Runner().run(agent, [...first.history, { role: "user", content: "/say Bye." }]);
  expect(second.finalOutput).toBe("Bye.");
});
