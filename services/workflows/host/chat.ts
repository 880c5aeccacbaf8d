import type { Usage } from "#events/thread.ts";
import type { Tools } from "../../turns/tools/index.ts";
import { reachOf, type Collections } from "./collections.ts";
import type { InputOf } from "./input.ts";
import { checkModel, checkThere, checkTools, promptOf } from "./prompt.ts";
import type { Asking } from "./step.ts";
import { takeTurn, type TurnDeps } from "./turns.ts";

interface ChatDeps extends TurnDeps {
  tools: Tools;
  collections: Collections;
}

const usageOf = (usage: Usage) => ({
  prompt_tokens: usage.prompt_tokens,
  completion_tokens: usage.completion_tokens,
  total_tokens: usage.prompt_tokens + usage.completion_tokens,
  prompt_tokens_details: { cached_tokens: usage.cached_tokens },
  completion_tokens_details: { reasoning_tokens: usage.reasoning_tokens },
});

/** One answer of a model, in a thread of its own: `{id, model, content, finish_reason, usage, thread_id}`. */
export async function chat(deps: ChatDeps, { step, standing, call, signal }: Asking, sent: InputOf<"chat">) {
  const { organization_id } = step;
  const { envelope } = standing;
  const { model, tool_choice, stop } = sent;
  const tools = [...new Set(sent.tools)];
  checkModel(envelope.models, model);
  checkTools(envelope.tools, tools);
  await checkThere(deps.tools, organization_id, tools, "chat: tools");
  const collections = await reachOf(deps.collections, {
    organization_id,
    allowed: envelope.collections,
    named: sent.knowledge?.collections,
    field: "chat: knowledge.collections",
  });
  const prompt = {
    ...promptOf(sent.messages),
    temperature: sent.temperature ?? null,
    top_p: sent.top_p ?? null,
    max_output_tokens: sent.max_tokens ?? null,
    stop: typeof stop === "string" ? [stop] : (stop ?? []),
    seed: sent.seed ?? null,
    response_format: sent.response_format ?? { type: "text" as const },
    tools,
    tool_choice: typeof tool_choice === "object" && tool_choice ? tool_choice.function : (tool_choice ?? "auto"),
    knowledge: collections && { collections },
  };
  const { thread_id, turn_id, end } = await takeTurn(deps, step, { call, model, prompt, thread_id: null }, signal);
  const { finish_reason, said, usage } = end;
  return {
    id: `chatcmpl-${turn_id}`,
    model,
    content: said.text,
    finish_reason,
    usage: usageOf(usage),
    thread_id,
  };
}
