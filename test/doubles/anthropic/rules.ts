import { kindOf, MAX_TOKENS } from "./models.ts";

/* What the messages API (version 2026-10-21) refuses with 400, with its own messages. */

const FIELDS = new Set([
  "model",
  "max_tokens",
  "messages",
  "system",
  "metadata",
  "stop_sequences",
  "stream",
  "thinking",
  "output_config",
  "tools",
  "tool_choice",
  "cache_control",
]);
const IMAGES = ["image/jpeg", "image/png", "image/gif", "image/webp"];

type Rule = (body: any) => string | undefined;

const unknownField: Rule = (body) => {
  const field = Object.keys(body).find((one) => !FIELDS.has(one));
  return field && `${field}: Extra inputs are not permitted`;
};

const limit: Rule = ({ max_tokens, model }) => {
  if (max_tokens === undefined) return "max_tokens: Field required";
  if (!Number.isInteger(max_tokens) || max_tokens < 1) return "max_tokens: Input should be greater than or equal to 1";
  return kindOf(model) && max_tokens > MAX_TOKENS
    ? `max_tokens: ${max_tokens} > ${MAX_TOKENS}, which is the maximum allowed number of output tokens for ${model}`
    : undefined;
};

const blocks: Rule = ({ messages }) => {
  if (!Array.isArray(messages) || messages.length === 0) return "messages: at least one message is required";
  for (const [m, { role, content }] of messages.entries())
    for (const [n, block] of content.entries()) {
      const place = `messages.${m}.content.${n}`;
      if (block.type === "text" && block.text.trim() === "")
        return `${place}: text content blocks must contain non-whitespace text`;
      const id = block.type === "tool_use" ? block.id : block.tool_use_id;
      if (id !== undefined && !/^[a-zA-Z0-9_-]+$/.test(id))
        return `${place}.${block.type}.id: String should match pattern '^[a-zA-Z0-9_-]+$'`;
      if (block.type === "image" && !IMAGES.includes(block.source.media_type))
        return `${place}.image.source.base64.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'`;
      if (block.type === "document" && block.source.type === "base64" && block.source.media_type !== "application/pdf")
        return `${place}.document.source.base64.media_type: Input should be 'application/pdf'`;
      if (block.type === "document" && role !== "user") return `${place}: document blocks are not allowed here`;
    }
  return undefined;
};

const results: Rule = ({ messages }) => {
  for (const [n, { role, content }] of messages.entries()) {
    if (role !== "assistant") continue;
    const callIds = content.filter((block: any) => block.type === "tool_use").map((block: any) => block.id);
    const next = messages[n + 1]?.content ?? [];
    const resultIds = new Set(next.map((block: any) => block.tool_use_id));
    const missing = callIds.filter((id: string) => !resultIds.has(id));
    if (missing.length > 0)
      return `messages.${n}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${missing.join(", ")}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`;
  }
  return undefined;
};

const isForced = ({ tool_choice }: any): boolean => tool_choice?.type === "any" || tool_choice?.type === "tool";
const rounds = ({ messages }: any) =>
  messages.filter(
    ({ role, content }: any) => role === "assistant" && content.some(({ type }: any) => type === "tool_use"),
  );

const thinking: Rule = (body) => {
  const kind = kindOf(body.model);
  const { type, budget_tokens } = body.thinking ?? {};
  if (type === undefined || !kind) return undefined;
  if (!kind[type as "adaptive"]) return `thinking.type: ${type} is not supported on this model`;
  if (type !== "enabled") return undefined;
  if (!(budget_tokens >= 1_024)) return "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024";
  if (budget_tokens >= body.max_tokens) return "`max_tokens` must be greater than `thinking.budget_tokens`.";
  if (isForced(body)) return "Thinking may not be enabled when tool_choice forces tool use.";
  const last = rounds(body).at(-1)?.content[0].type;
  return last === "tool_use" || last === "text"
    ? `messages.1.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${last}\`.`
    : undefined;
};

const effort: Rule = ({ model, output_config }) => {
  const wanted = output_config?.effort;
  return wanted === undefined || !kindOf(model) || kindOf(model)!.efforts.includes(wanted)
    ? undefined
    : `output_config.effort: ${wanted} is not supported on this model`;
};

const closed = (schema: any): boolean =>
  typeof schema !== "object" ||
  schema === null ||
  ((schema.type !== "object" || schema.additionalProperties === false) && Object.values(schema).every(closed));
const format: Rule = ({ output_config }) =>
  closed(output_config?.format?.schema)
    ? undefined
    : "output_config.format.schema: For 'object' type, 'additionalProperties' must be explicitly set to false";

const stops: Rule = ({ stop_sequences }) =>
  (stop_sequences ?? []).some((stop: string) => stop.trim() === "")
    ? "stop_sequences: each stop sequence must contain non-whitespace"
    : undefined;

const tools: Rule = ({ tools: offered = [] }) => {
  const wrong = offered.find(
    ({ name, input_schema }: any) => !/^[a-zA-Z0-9_-]{1,128}$/.test(name) || input_schema.type !== "object",
  );
  return wrong && "tools.0.custom: Input does not match the expected shape.";
};

/** Thinking must come back unchanged and in the same order. `issued`: the blocks of each answer, by the ids of its calls. */
const unchangedThinking =
  (issued: Map<string, any[]>): Rule =>
  (body) => {
    for (const { content } of rounds(body)) {
      const id = content.find(({ type }: any) => type === "tool_use").id;
      const sent = content.filter(({ type }: any) => type.endsWith("thinking"));
      const known = issued.get(id);
      const expected = known?.filter(({ type }: any) => type.endsWith("thinking")) ?? [];
      if (sent.length === 0 && body.thinking?.type !== "enabled") continue;
      const there = new Set(content.map((block: any) => block.id));
      const order = (list: any[]) =>
        list
          .filter((one) => there.has(one.id))
          .map(({ type }) => type)
          .join();
      if (JSON.stringify(sent) !== JSON.stringify(expected) || order(content) !== order(known ?? []))
        return "messages.1.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.";
    }
    return undefined;
  };

const RULES = [unknownField, limit, blocks, results, thinking, effort, format, stops, tools];

export const refusalReason = (body: any, issued: Map<string, any[]>): string | undefined => {
  for (const rule of [...RULES, unchangedThinking(issued)]) {
    const reason = rule(body);
    if (reason) return reason;
  }
  return undefined;
};
