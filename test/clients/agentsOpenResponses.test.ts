import { createOpenResponses } from "@ai-sdk/open-responses";
import { generateText } from "ai";
import { describe, expect, test } from "vitest";
import { startAgents } from "../agents/agents.ts";
import { checkedFetch } from "../agents/checkedFetch.ts";
import { AGENTS, generateAndStream } from "./aiSdkAgents.ts";

/* A client of the Open Responses specification, which accepts any service that follows it. Streams are held against the grammar. */

globalThis.AI_SDK_LOG_WARNINGS = false;
const agents = await startAgents();

/** The client always sends `tool_choice`, which agents refuse: a fetch that leaves it out. */
const withoutToolChoice: typeof fetch = (input, init) => {
  const { tool_choice: _, ...body } = JSON.parse(init?.body as string) as Record<string, unknown>;
  return checkedFetch(input, { ...init, body: JSON.stringify(body) });
};
const modelOf = (agent: string, fetch = withoutToolChoice) =>
  createOpenResponses({
    name: "assistant",
    url: `${agents.url}/api/agents/${agent}/v1/responses`,
    apiKey: agents.api_key,
    fetch,
  })("any");

describe.each(AGENTS)("an agent %s", (_, settings, prompt) => {
  test("generateText and streamText", async () => {
    await generateAndStream(modelOf(await agents.agent(settings)), prompt);
  });
});

test("a conversation that the client keeps contains the model's own answers", async () => {
  const model = modelOf(await agents.agent({ model: "openai/gpt-test" }));
  agents.answers({ text: "Hello Ada." }, { text: "You are Ada." });
  const { response } = await generateText({ model, prompt: "I am Ada" });
  const messages = [{ role: "user" as const, content: "I am Ada" }, ...response.messages];
  const { text } = await generateText({ model, messages: [...messages, { role: "user", content: "Who am I?" }] });
  expect(text).toBe("You are Ada.");
  expect(agents.asked().messages.map(({ content }: { content: string }) => content)).toEqual([
    "I am Ada",
    "Hello Ada.",
    "Who am I?",
  ]);
});

test("an unsupported field that the client sends by default is refused with advice", async () => {
  const model = modelOf(await agents.agent(), checkedFetch);
  await expect(generateText({ model, prompt: "/say x" })).rejects.toThrow("Leave the field out, or set client_tools");
});

test("a turn that fails is reported", async () => {
  const model = modelOf(await agents.agent());
  await expect(generateText({ model, prompt: "/fail 400", maxRetries: 0 })).rejects.toThrow("400");
});
