import { createHash } from "node:crypto";
import { transformJSONSchema } from "@anthropic-ai/sdk/lib/transform-json-schema";
import type {
  CacheControlEphemeral,
  MessageCreateParams,
  OutputConfig,
  Tool,
  ToolChoice,
} from "@anthropic-ai/sdk/resources/messages";
import type { ModelRequest, Part } from "#services/turns/model.ts";
import type { ModelFacts } from "./facts.ts";
import { toMessages } from "./messages.ts";
import { thinkingParams } from "./thinking.ts";

/** The API requires `max_tokens`. This value is used for models with an unknown limit, because every model accepts it. */
const SAFE_MAX_TOKENS = 8_192;

/** The API has no JSON mode without a schema, so the prompt asks for JSON. */
const JSON_ONLY = "Answer with one JSON object and nothing else: no words around it, and no code fence.";

/** The shortest prompt that the provider caches: 1,024 tokens of about four characters. */
const MIN_CACHED_CHARACTERS = 4_096;
const CACHED: CacheControlEphemeral = { type: "ephemeral" };

/** Long instructions are cached by themselves, because other threads begin with the same ones. */
function systemPrompt({ instructions, response_format }: ModelRequest): MessageCreateParams["system"] {
  const parts = [instructions, response_format.type === "json_object" ? JSON_ONLY : null];
  const text = parts.filter(Boolean).join("\n\n");
  return text.length < MIN_CACHED_CHARACTERS ? text : [{ type: "text", text, cache_control: CACHED }];
}

/** A schema that cannot be adapted is sent as it is: the provider reports what is wrong with it. */
function adaptSchema(schema: Record<string, unknown>): Record<string, unknown> {
  try {
    return transformJSONSchema(schema);
  } catch {
    return schema;
  }
}

const toToolChoice = (choice: Exclude<ModelRequest["tool_choice"], "auto">): ToolChoice => {
  if (typeof choice === "object") return { type: "tool", name: choice.name };
  return { type: choice === "required" ? "any" : "none" };
};

const sizeOf = (part: Part): number => (part.type === "file" ? part.bytes.length : part.text.length);

/**
 * Whether the next request will repeat this prompt, as rounds of tools and longer conversations do. Writing to the cache costs a
 * quarter more than the prompt itself, so a long first message, which may be the only one, is not cached.
 */
function isSentAgain({ tools, messages, instructions }: ModelRequest): boolean {
  if (tools.length > 0) return true;
  if (!messages.some(({ role }) => role === "assistant")) return false;
  const sizes = messages.flatMap(({ parts }) => parts.map(sizeOf));
  return sizes.reduce((sum, size) => sum + size, instructions?.length ?? 0) >= MIN_CACHED_CHARACTERS;
}

const toolParams = ({ tools, tool_choice }: ModelRequest): Partial<MessageCreateParams> => ({
  tools: tools.map(({ name, description, parameters }) => ({
    name,
    description,
    input_schema: { ...parameters, type: "object" } as Tool.InputSchema,
  })),
  ...(tool_choice !== "auto" && { tool_choice: toToolChoice(tool_choice) }),
});

/** Anthropic asks for an id that does not reveal the person. */
const hashUser = (user: string): string => createHash("sha256").update(user).digest("hex");

/** The body of a message request. It omits `temperature`, `top_p` and `seed`, because the API refuses unknown fields. */
export function toRequestBody(request: ModelRequest, facts: ModelFacts): Omit<MessageCreateParams, "stream"> {
  const { max_output_tokens, response_format, tools, user } = request;
  // the API refuses sequences of white space
  const stop = request.stop.filter((sequence) => sequence.trim() !== "");
  const max_tokens = Math.min(max_output_tokens ?? facts.max_tokens ?? SAFE_MAX_TOKENS, facts.max_tokens ?? Infinity);
  const { thinking, effort } = thinkingParams(request, facts, max_tokens);
  const format: OutputConfig["format"] =
    response_format.type === "json_schema"
      ? { type: "json_schema", schema: adaptSchema(response_format.json_schema.schema) }
      : undefined;
  const system = systemPrompt(request);
  return {
    model: request.model,
    max_tokens,
    messages: toMessages(request.messages),
    ...(system !== "" && { system }),
    ...(stop.length > 0 && { stop_sequences: stop }),
    ...(user !== null && { metadata: { user_id: hashUser(user) } }),
    ...(thinking && { thinking }),
    ...((effort || format) && { output_config: { ...(effort && { effort }), ...(format && { format }) } }),
    ...(tools.length > 0 && toolParams(request)),
    ...(isSentAgain(request) && { cache_control: CACHED }),
  };
}
