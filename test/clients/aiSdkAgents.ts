import { generateText, streamText, type LanguageModel } from "ai";
import { expect } from "vitest";
import { TOOL } from "../agents/agents.ts";

/* What both providers of the AI SDK must do with agents. */

export const SAID = "Here you are.";
/** Kinds of agents, each with a prompt that makes it say `SAID`. */
export const AGENTS: [kind: string, settings: object, prompt: string][] = [
  ["without tools", {}, `/reason Let me think.\n/say ${SAID}`],
  ["with tools", { tools: [TOOL] }, `/tool ${TOOL} {"text":"x"}\n/say ${SAID}`],
  [
    "with several calls and rounds",
    { tools: [TOOL] },
    `/tool ${TOOL} {"text":"x"}\n/tool ${TOOL} {}\n/rounds 2\n/say ${SAID}`,
  ],
  ["with tools that fail", { tools: [TOOL] }, `/tool ${TOOL} {"fail":true}\n/say ${SAID}`],
  ["with tools that it keeps to itself", { tools: [TOOL], expose_tool_items: false }, `/tool ${TOOL} {}\n/say ${SAID}`],
];

/** The answer whole and streamed: both say `SAID` and count tokens. */
export async function generateAndStream(model: LanguageModel, prompt: string) {
  const whole = await generateText({ model, prompt });
  expect([whole.text, whole.usage.totalTokens! > 0]).toEqual([SAID, true]);
  const stream = streamText({ model, prompt });
  expect((await Array.fromAsync(stream.textStream)).join("")).toBe(SAID);
  expect((await stream.usage).totalTokens).toBeGreaterThan(0);
  return { whole, stream };
}
