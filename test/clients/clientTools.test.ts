import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { HumanMessage, type BaseMessage } from "@langchain/core/messages";
import { tool as langchainTool } from "@langchain/core/tools";
import { createReactAgent } from "@langchain/langgraph/prebuilt";
import { ChatOpenAI } from "@langchain/openai";
import { Agent, OpenAIResponsesModel, Runner, setTracingDisabled, tool as agentsTool } from "@openai/agents";
import { generateText, isStepCount, streamText, tool, type LanguageModel } from "ai";
import OpenAI from "openai";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { startAgents, TOOL, type Agents } from "../agents/agents.ts";
import { checkedFetch } from "../agents/checkedFetch.ts";

/* Clients that run tools of their own, next to a tool of the server. Each loop runs every tool once. */

setTracingDisabled(true);
globalThis.AI_SDK_LOG_WARNINGS = false;
let agents: Agents;
let chatKey: string;
let ran: string[];
beforeAll(async () => {
  agents = await startAgents();
  chatKey = (await agents.key({ client_tools: true })).key;
});
beforeEach(() => {
  ran = [];
  agents.answers(
    { text: "Let me see. ", tool_calls: [call(TOOL, { text: "first" })] },
    { tool_calls: [call(TOOL, { text: "second" }), call("get_weather", { city: "Oslo" })] },
    { tool_calls: [call("get_weather", { city: "Bergen" })] },
    { text: "It rains in both." },
  );
});

/* The provider counts its calls from 0 in every answer, so a whole conversation is new only by its question. */
const call = (name: string, args: object) => ({ name, arguments: args });
const weatherIn = (city: string): string => {
  ran.push(city);
  return `Rain in ${city}`;
};
const ANSWER = "It rains in both.";
const toolsRun = () => agents.count("ToolFinished");

/** The conversation in the provider's last request. */
const finalRoles = () => agents.asked().messages.map(({ role, content }: any) => (role === "tool" ? content : role));
const BERGEN = ["assistant", "Rain in Bergen"];

async function expectLoop(loop: () => Promise<string>): Promise<void> {
  const before = await toolsRun();
  expect(await loop()).toContain(ANSWER);
  expect(ran).toEqual(["Oslo", "Bergen"]);
  expect(await toolsRun()).toBe(before + 2);
  expect(agents.calls()).toBe(4);
  expect(finalRoles().slice(-2)).toEqual(BERGEN);
  expect(finalRoles()).toContain("Rain in Oslo");
}

describe("an agent with a client tool", () => {
  const base = async () => {
    const id = await agents.agent({ model: "openai/gpt-test", tools: [TOOL], client_tools: true });
    return `${agents.url}/api/agents/${id}/v1`;
  };
  const sdkAgent = async () => {
    const settings = { apiKey: agents.api_key, baseURL: await base(), maxRetries: 0, fetch: checkedFetch };
    return new Agent({
      name: "Ours",
      model: new OpenAIResponsesModel(new OpenAI(settings), "any"),
      tools: [
        agentsTool({
          name: "get_weather",
          description: "The weather of a city.",
          parameters: z.object({ city: z.string() }),
          execute: async ({ city }) => weatherIn(city),
        }),
      ],
    });
  };
  const sdkModel = async () =>
    createOpenAI({ baseURL: await base(), apiKey: agents.api_key, fetch: checkedFetch }).responses("any");

  test("Agents SDK, whole", async () => {
    const agent = await sdkAgent();
    await expectLoop(async () => (await new Runner().run(agent, "Weather?")).finalOutput!);
  });

  test("Agents SDK, streamed", async () => {
    const agent = await sdkAgent();
    await expectLoop(async () => {
      const stream = await new Runner().run(agent, "Weather?", { stream: true });
      await stream.completed;
      return stream.finalOutput!;
    });
  });

  test("Agents SDK, a handoff to another agent", async () => {
    agents.answers({ tool_calls: [call("transfer_to_Specialist", {})] }, { text: ANSWER });
    const { model } = await sdkAgent();
    const specialist = new Agent({ name: "Specialist", instructions: "You know the weather.", model });
    const first = new Agent({ name: "First", model, handoffs: [specialist] });
    const { finalOutput, lastAgent } = await new Runner().run(first, "Weather?");
    expect([finalOutput, lastAgent?.name, agents.calls()]).toEqual([ANSWER, "Specialist", 2]);
    expect(agents.asked().messages[0].content).toContain("You know the weather.");
  });

  test("AI SDK, whole", async () => {
    const model = await sdkModel();
    await expectLoop(async () => (await generateText({ model, prompt: "Weather?", ...aiTools() })).text);
  });

  test("AI SDK, streamed", async () => {
    const model = await sdkModel();
    await expectLoop(async () => {
      const stream = streamText({ model, prompt: "Weather?", ...aiTools() });
      await stream.consumeStream();
      return stream.text;
    });
  });

  const langchainModel = async () =>
    new ChatOpenAI({
      model: "any",
      useResponsesApi: true,
      apiKey: agents.api_key,
      maxRetries: 0,
      configuration: { baseURL: await base(), fetch: checkedFetch },
    });

  test.each([false, true])("LangChain (streamed: %s)", async (streamed) => {
    const model = (await langchainModel()).bindTools([weatherOfLangchain]);
    await expectLoop(() => langchainLoop(model, `Weather, streamed ${streamed}?`, streamed));
  });

  test("LangGraph", async () => {
    const graph = createReactAgent({ llm: await langchainModel(), tools: [weatherOfLangchain] });
    await expectLoop(async () => {
      const { messages } = await graph.invoke({ messages: [{ role: "user", content: "Weather?" }] });
      return messages.at(-1)!.text;
    });
  });
});

const weatherOfLangchain = langchainTool(({ city }) => weatherIn(city), {
  name: "get_weather",
  description: "The weather of a city.",
  schema: z.object({ city: z.string() }),
});
/** Runs the model until it calls nothing more; each turn gets the whole conversation. */
async function langchainLoop(model: ReturnType<ChatOpenAI["bindTools"]>, question: string, streamed: boolean) {
  const messages: BaseMessage[] = [new HumanMessage(question)];
  for (;;) {
    const chunks = streamed ? await Array.fromAsync(await model.stream(messages)) : [await model.invoke(messages)];
    const answer = chunks.reduce((sum, chunk) => sum.concat(chunk));
    if (!answer.tool_calls?.length) return answer.text;
    messages.push(answer, ...(await Promise.all(answer.tool_calls.map((each) => weatherOfLangchain.invoke(each)))));
  }
}

const weatherTool = tool({
  description: "The weather of a city.",
  inputSchema: z.object({ city: z.string() }),
  execute: async ({ city }) => weatherIn(city),
});
const aiTools = () => ({ tools: { get_weather: weatherTool }, stopWhen: isStepCount(5) });

describe("a chat that names a server tool", () => {
  const server = { type: "function" as const, function: { name: TOOL } };
  const parameters = { type: "object", properties: { city: { type: "string" } } };
  const own = { type: "function" as const, function: { name: "get_weather", parameters } };
  const client = () => new OpenAI({ apiKey: chatKey, baseURL: agents.base_url, maxRetries: 0 });

  test("openai, a stored thread that receives only the results", async () => {
    const ask = (messages: OpenAI.ChatCompletionMessageParam[], thread?: string) =>
      client()
        .chat.completions.create(
          { model: "openai/gpt-test", messages, tools: [server, own] },
          thread ? { headers: { "x-thread-id": thread } } : {},
        )
        .withResponse();
    await expectLoop(async () => {
      let { data, response } = await ask([{ role: "user", content: "Weather?" }]);
      const thread = response.headers.get("x-thread-id")!;
      while (data.choices[0]!.finish_reason === "tool_calls") {
        const results = data.choices[0]!.message.tool_calls!.map((each) => ({
          role: "tool" as const,
          tool_call_id: each.id,
          content: weatherIn(JSON.parse((each as { function: { arguments: string } }).function.arguments).city),
        }));
        ({ data, response } = await ask(results, thread));
      }
      return data.choices[0]!.message.content!;
    });
  });

  test("openai, runTools with the whole conversation, streamed", async () => {
    await expectLoop(async () => {
      const parse = JSON.parse as (text: string) => { city: string };
      const run = ({ city }: { city: string }) => weatherIn(city);
      const unreachable = () => expect.unreachable("the client ran a tool of the server");
      const runner = client().chat.completions.runTools({
        model: "openai/gpt-test",
        stream: true,
        messages: [{ role: "user", content: "Weather, streamed?" }],
        tools: [
          { type: "function", function: { name: "get_weather", description: "", parameters, parse, function: run } },
          { type: "function", function: { name: TOOL, description: "", parameters: {}, parse, function: unreachable } },
        ],
      });
      return (await runner.finalContent())!;
    });
  });

  const models: [string, () => Exclude<LanguageModel, string>][] = [
    ["@ai-sdk/openai, chat", () => createOpenAI({ baseURL: agents.base_url, apiKey: chatKey }).chat("openai/gpt-test")],
    [
      "@ai-sdk/openai-compatible",
      () => createOpenAICompatible({ name: "platform", baseURL: agents.base_url, apiKey: chatKey })("openai/gpt-test"),
    ],
  ];
  const named = { [TOOL]: tool({ inputSchema: z.object({}) }) };
  test.each(models)("%s, whole and streamed", async (name, model) => {
    const { tools, stopWhen } = aiTools();
    const options = (prompt: string) => ({ prompt, tools: { ...tools, ...named }, stopWhen });
    await expectLoop(async () => (await generateText({ model: model(), ...options(`${name}?`) })).text);
    ran = [];
    agents.answers(
      { tool_calls: [call(TOOL, {}), call("get_weather", { city: "Oslo" })] },
      { tool_calls: [call(TOOL, {})] },
      { tool_calls: [call("get_weather", { city: "Bergen" })] },
      { text: ANSWER },
    );
    await expectLoop(async () => {
      const stream = streamText({ model: model(), ...options(`${name}, streamed?`) });
      await stream.consumeStream();
      return stream.text;
    });
  });

  test.each([false, true])("LangChain (streamed: %s)", async (streamed) => {
    const model = new ChatOpenAI({
      model: "openai/gpt-test",
      apiKey: chatKey,
      maxRetries: 0,
      configuration: { baseURL: agents.base_url },
    }).bindTools([weatherOfLangchain, server]);
    await expectLoop(() => langchainLoop(model, `LangChain, streamed ${streamed}?`, streamed));
  });
});
