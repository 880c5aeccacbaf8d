import type { Prompt } from "#events/thread.ts";
import { StepFailure } from "../tick.ts";
import type { Tools } from "../../turns/tools/index.ts";
import { isListed } from "./allows.ts";
import { wrong, type Said } from "./input.ts";

const ofRole = (messages: Said[], ...roles: Said["role"][]): string[] =>
  messages.filter(({ role }) => roles.includes(role)).map(({ content }) => content);

/** A prompt that asks for nothing but an answer to what is said. */
export function promptOf(said: Said[]): Prompt {
  const instructions = ofRole(said, "system", "developer");
  return {
    instructions: instructions.length > 0 ? instructions.join("\n\n") : null,
    messages: said.flatMap(({ role, content }) =>
      role === "user" || role === "assistant" ? [{ role, text: content, attachments: [] }] : [],
    ),
    temperature: null,
    top_p: null,
    max_output_tokens: null,
    stop: [],
    seed: null,
    response_format: { type: "text" },
    user: null,
    vars: {},
    tools: [],
    tool_choice: "auto",
    knowledge: null,
  };
}

export function checkModel(models: string[], model: string): void {
  if (isListed(models, model)) return;
  throw new StepFailure("model_not_allowed", `The model ${model} is not in the workflow's envelope.models.`, {
    final: true,
  });
}

export function checkTools(allowed: string[], names: string[]): void {
  const outside = names.find((name) => !isListed(allowed, name));
  if (outside === undefined) return;
  throw new StepFailure("tool_not_allowed", `The tool ${outside} is not in the workflow's envelope.tools.`, {
    final: true,
  });
}

/** Whether there is each tool that a step names; `place` says where it named the first. */
export async function checkThere(tools: Tools, organization: string, names: string[], place: string): Promise<void> {
  const there = new Set((await tools.find(organization, names)).map(({ name }) => name));
  const missing = names.find((name) => !there.has(name));
  if (missing !== undefined) throw wrong(`${place}: there is no tool ${JSON.stringify(missing)}.`);
}
