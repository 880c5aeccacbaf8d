import { createHash } from "node:crypto";
import { transformJSONSchema } from "@anthropic-ai/sdk/lib/transform-json-schema";
import type { MessageCreateParams, OutputConfig, Tool, ToolChoice } from "@anthropic-ai/sdk/resources/messages";
import type { ModelRequest } from "#services/turns/model.ts";
import type { Facts } from "./facts.ts";
import { messagesOf } from "./messages.ts";
import { thinkingOf } from "./thinking.ts";

/** A limit has to be sent; of a model whose own is not known every one takes this. */
const SAFE_LIMIT = 8_192;

/** There is no JSON mode without a schema. */
const JSON_ONLY = "Answer with one JSON object and nothing else: no words around it, and no code fence.";

const systemOf = ({ instructions, response_format }: ModelRequest): string =>
  [instructions, response_format.type === "json_object" ? JSON_ONLY : null].filter(Boolean).join("\n\n");

/** A schema that cannot be adapted goes out as it is: what is wrong with it is the provider's to say. */
function schemaOf(schema: Record<string, unknown>): Record<string, unknown> {
  try {
    return transformJSONSchema(schema);
  } catch {
    return schema;
  }
}

const choiceOf = (choice: Exclude<ModelRequest["tool_choice"], "auto">): ToolChoice => {
  if (typeof choice === "object") return { type: "tool", name: choice.name };
  return { type: choice === "required" ? "any" : "none" };
};

/** Rounds of tools send one conversation again and again, so it is kept in the provider's cache meanwhile. */
const toolsOf = ({ tools, tool_choice }: ModelRequest): Partial<MessageCreateParams> => ({
  tools: tools.map(({ name, description, parameters }) => ({
    name,
    description,
    input_schema: { ...parameters, type: "object" } as Tool.InputSchema,
  })),
  ...(tool_choice !== "auto" && { tool_choice: choiceOf(tool_choice) }),
  cache_control: { type: "ephemeral" },
});

/** Anthropic asks for a name that says nothing of the person. */
const userId = (user: string): string => createHash("sha256").update(user).digest("hex");

/**
 * The body of a message request. `temperature`, `top_p` and `seed` are not in it: the API has none of them and refuses what it does
 * not know.
 */
export function toWire(request: ModelRequest, facts: Facts): Omit<MessageCreateParams, "stream"> {
  const { max_output_tokens, response_format, stop, tools, user } = request;
  const most = facts.max_tokens ?? Infinity;
  const max_tokens = Math.min(max_output_tokens ?? facts.max_tokens ?? SAFE_LIMIT, most);
  const { thinking, effort } = thinkingOf(request, facts, max_tokens);
  const format: OutputConfig["format"] =
    response_format.type === "json_schema"
      ? { type: "json_schema", schema: schemaOf(response_format.json_schema.schema) }
      : undefined;
  const system = systemOf(request);
  return {
    model: request.model,
    max_tokens,
    messages: messagesOf(request.messages),
    ...(system !== "" && { system }),
    ...(stop.length > 0 && { stop_sequences: stop }),
    ...(user !== null && { metadata: { user_id: userId(user) } }),
    ...(thinking && { thinking }),
    ...((effort || format) && { output_config: { ...(effort && { effort }), ...(format && { format }) } }),
    ...(tools.length > 0 && toolsOf(request)),
  };
}
