import { completionUsage } from "#events/presentUsage.ts";
import { answerText } from "#events/turnOutput.ts";
import type { Tools } from "../../turns/tools/index.ts";
import { resolveCollections, type Collections } from "./collections.ts";
import type { CallInput } from "../stepInputs.ts";
import { buildPrompt, checkModel, checkTools, checkToolsExist } from "./prompt.ts";
import type { HostCall } from "./step.ts";
import { completeTurn } from "./completeTurn.ts";
import type { TurnDeps } from "./turnStart.ts";

interface ChatDeps extends TurnDeps {
  tools: Tools;
  collections: Collections;
}

/** Asks a model once, in a new thread: `{id, model, content, finish_reason, usage, thread_id}`. */
export async function chat(deps: ChatDeps, { step, permissions, call, signal }: HostCall, input: CallInput<"chat">) {
  const { organization_id } = step;
  const { envelope } = permissions;
  const { model, tool_choice, stop } = input;
  const tools = [...new Set(input.tools)];
  checkModel(envelope.models, model);
  checkTools(envelope.tools, tools);
  await checkToolsExist(deps.tools, organization_id, tools, "chat: tools");
  const named = input.knowledge?.collections;
  const withinEnvelope = { organization_id, allowed: envelope.collections, field: "chat: knowledge.collections" };
  // an empty list allows none, as in the chat API
  const collections =
    named?.length === 0 ? [] : await resolveCollections(deps.collections, { ...withinEnvelope, named });
  const prompt = {
    ...buildPrompt(input.messages),
    temperature: input.temperature ?? null,
    top_p: input.top_p ?? null,
    max_output_tokens: input.max_tokens ?? null,
    stop: typeof stop === "string" ? [stop] : (stop ?? []),
    seed: input.seed ?? null,
    response_format: input.response_format ?? { type: "text" as const },
    tools,
    tool_choice: typeof tool_choice === "object" && tool_choice ? tool_choice.function : (tool_choice ?? "auto"),
    knowledge: collections && { collections },
  };
  const { thread_id, turn_id, end } = await completeTurn(deps, step, { call, model, prompt, thread_id: null }, signal);
  const { finish_reason, said, usage } = end;
  return {
    id: `chatcmpl-${turn_id}`,
    model: end.model ?? model,
    content: answerText(said),
    finish_reason,
    usage: completionUsage(usage),
    thread_id,
  };
}
