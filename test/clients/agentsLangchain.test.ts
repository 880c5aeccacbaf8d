import { createReactAgent } from "@langchain/langgraph/prebuilt";
import { ChatOpenAI } from "@langchain/openai";
import { describe, expect, test } from "vitest";
import { startAgents, TOOL } from "../agents/agents.ts";
import { checkedFetch } from "../agents/checkedFetch.ts";

const agents = await startAgents();

const open = async (settings: object) =>
  new ChatOpenAI({
    model: "any",
    useResponsesApi: true,
    apiKey: agents.api_key,
    maxRetries: 0,
    configuration: { baseURL: `${agents.url}/api/agents/${await agents.agent(settings)}/v1`, fetch: checkedFetch },
  });

const SAID = "Here you are.";
describe.each([
  ["without tools", {}, `/say ${SAID}`, 0],
  ["with tools", { tools: [TOOL] }, `/tool ${TOOL} {"text":"x"}\n/say ${SAID}`, 0],
  [
    "with tools that it keeps to itself",
    { tools: [TOOL], expose_tool_items: false },
    `/tool ${TOOL} {}\n/say ${SAID}`,
    0,
  ],
])("an agent %s", (_, settings, input, calls) => {
  test("invoke", async () => {
    const message = await (await open(settings)).invoke(input);
    expect(message.text).toBe(SAID);
    expect(message.tool_calls).toHaveLength(calls);
    expect(message.usage_metadata!.total_tokens).toBeGreaterThan(0);
    expect(message.response_metadata).toMatchObject({ status: "completed", id: expect.stringMatching(/^resp_/) });
  });

  test("stream", async () => {
    const chunks = await Array.fromAsync(await (await open(settings)).stream(input));
    const whole = chunks.reduce((sum, chunk) => sum.concat(chunk));
    expect(whole.text).toBe(SAID);
    expect(whole.tool_calls).toHaveLength(calls);
    expect(whole.usage_metadata!.total_tokens).toBeGreaterThan(0);
  });
});

test("LangGraph: createReactAgent gets the answer of an agent with tools, and continues", async () => {
  const llm = await open({ tools: [TOOL] });
  const graph = createReactAgent({ llm, tools: [] });
  const before = await agents.count("ToolFinished");
  const first = await graph.invoke({ messages: [{ role: "user", content: `/tool ${TOOL} {}\n/say ${SAID}` }] });
  expect(first.messages.at(-1)!.text).toBe(SAID);
  expect(await agents.count("ToolFinished")).toBe(before + 1);
  const second = await graph.invoke({ messages: [...first.messages, { role: "user", content: "/say Bye." }] });
  expect(second.messages.map(({ text }) => text).slice(-3)).toEqual([SAID, "/say Bye.", "Bye."]);
});

test("a conversation continues when the client sends its whole history", async () => {
  const model = await open({ model: "openai/gpt-test" });
  agents.answers();
  const first = await model.invoke("I am Ada");
  const second = await model.invoke([["user", "I am Ada"], first, ["user", "Still me"]]);
  expect(second.text).toBe("Still me");
  const previous_response_id = first.response_metadata["id"] as string;
  await model.invoke("And now?", { previous_response_id });
  expect(agents.asked().messages).toHaveLength(3);
});

test("a refusal is reported", async () => {
  const error = await (await open({ model: null })).invoke("x").catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ status: 400, code: "model_not_configured" });
});
