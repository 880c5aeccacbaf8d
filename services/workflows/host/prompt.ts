import { EMPTY_PROMPT, type Prompt } from "#events/thread.ts";
import { StepFailure } from "../tick.ts";
import type { Tools } from "../../turns/tools/index.ts";
import { isListed } from "./envelopeRules.ts";
import type { InputMessage } from "../stepInputs.ts";
import { invalidInput } from "./input.ts";

const collectContents = (messages: InputMessage[], ...roles: InputMessage["role"][]): string[] =>
  messages.filter(({ role }) => roles.includes(role)).map(({ content }) => content);

/** A prompt with default settings and without tools. System messages become its instructions. */
export function buildPrompt(input: InputMessage[]): Prompt {
  const instructions = collectContents(input, "system", "developer");
  return {
    ...EMPTY_PROMPT,
    instructions: instructions.length > 0 ? instructions.join("\n\n") : null,
    messages: input.flatMap(({ role, content }) =>
      role === "user" || role === "assistant" ? [{ role, text: content, attachments: [] }] : [],
    ),
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

/** Throws StepFailure for names of tools that do not exist. `field`: the input field of the names. */
export async function checkToolsExist(
  tools: Tools,
  organization: string,
  names: string[],
  field: string,
): Promise<void> {
  const existing = new Set((await tools.find(organization, names)).map(({ name }) => name));
  const missing = names.find((name) => !existing.has(name));
  if (missing !== undefined) throw invalidInput(`${field}: there is no tool ${JSON.stringify(missing)}.`);
}
