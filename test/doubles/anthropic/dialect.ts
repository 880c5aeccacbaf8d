import { startAnthropic, type AnthropicDouble } from "../anthropic.ts";
import { parseOr, withDialect, type Answer, type Conversation, type Dialect, type DialectDouble } from "../dialect.ts";
import { event, USAGE, type Message } from "./reply.ts";

const toMessage = ({ state, reasoning, text, calls = [], finish, usage, error, ...answer }: Answer): Message => {
  const blocks = [
    ...(state === undefined ? [] : [{ redacted: state }]),
    ...(reasoning === undefined ? [] : [{ thinking: reasoning }]),
    ...(text === undefined ? [] : [{ text }]),
    ...calls.map(({ name, args }) => ({ tool: name, input: args })),
  ];
  return {
    ...answer,
    ...(blocks.length > 0 && { blocks }),
    ...(finish !== undefined && { stop_reason: finish }),
    ...(usage !== undefined && { usage: usage }),
    ...(error !== undefined && { error: { type: "overloaded_error", message: error } }),
  };
};

function toConversation({ system, messages, tools = [] }: any): Conversation {
  const blocks = messages.flatMap(({ content }: any) => content);
  return {
    instructions: Array.isArray(system) ? system.map(({ text }) => text).join("") : system,
    texts: blocks.flatMap(({ text }: any) => text ?? []),
    files: messages.at(-1).content.flatMap(({ source }: any) => source?.media_type ?? []),
    tools: tools.map(({ name }: any) => name),
    calls: blocks.flatMap(({ type, id, name, input: args }: any) => (type === "tool_use" ? { id, name, args } : [])),
    results: blocks.flatMap(({ tool_use_id: id, content }: any) =>
      id ? { id, output: parseOr(content, content) } : [],
    ),
    state: blocks.flatMap(({ signature, data }: any) => signature ?? data ?? []),
  };
}

const start = event("message_start", { message: { usage: USAGE } });

export const ANTHROPIC: Dialect<DialectDouble & Pick<AnthropicDouble, "answers" | "script">> = {
  name: "anthropic",
  model: "claude-fable-5",
  apiKey: "sk-ant-canary-0123456789",
  wrongKey: { apiKey: "sk-wrong", status: 401, message: "invalid x-api-key" },
  keyHeader: (apiKey) => ["authorization", `Bearer ${apiKey}`],
  settings: ["ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"],
  origin: "https://api.anthropic.com",
  pathSuffixes: ["", "/", "/v1", "/v1/"],
  environment: {
    ANTHROPIC_BASE_URL: "https://elsewhere.example",
    ANTHROPIC_API_KEY: "sk-ant-environment",
    ANTHROPIC_AUTH_TOKEN: "environment",
    ANTHROPIC_CUSTOM_HEADERS: "x-secret: environment",
  },
  alwaysStreams: true,
  finishReasons: [
    ["end_turn", "stop"],
    ["stop_sequence", "stop"],
    ["pause_turn", "stop"],
    ["max_tokens", "length"],
    ["model_context_window_exceeded", "length"],
    ["refusal", "content_filter"],
    ["tool_use", "tool_calls"],
    ["yet_unknown", "stop"],
    ["constructor", "stop"],
  ],
  usage: {
    raw: {
      input_tokens: 20,
      cache_creation_input_tokens: 100,
      cache_read_input_tokens: 16,
      output_tokens: 9,
      output_tokens_details: { thinking_tokens: 4 },
    },
    counted: {
      prompt_tokens: 136,
      completion_tokens: 9,
      cached_tokens: 16,
      cache_write_tokens: 100,
      reasoning_tokens: 4,
    },
  },
  unusableUsages: [
    null,
    {},
    { input_tokens: -1, output_tokens: 2 },
    { input_tokens: Number.MAX_SAFE_INTEGER, output_tokens: 2 },
    { input_tokens: 0, output_tokens: 0 },
  ],
  errorBody: (_, message) => ({ type: "error", error: { type: "x", message }, request_id: "req_1" }),
  frames: {
    start,
    text: (text) =>
      event("content_block_start", { index: 0, content_block: { type: "text", text: "" } }) +
      event("content_block_delta", { index: 0, delta: { type: "text_delta", text } }),
    finish: event("message_delta", { delta: { stop_reason: "end_turn" }, usage: USAGE }),
    unknown: [
      event("surprise"),
      event("content_block_start", { index: 1, content_block: { type: "hologram", light: 5 } }),
      event("content_block_delta", { index: 1, delta: { type: "light_delta", light: 6 } }),
    ],
    broken: [["half JSON", 'event: content_block_delta\ndata: {"type":\n\n']],
  },
  start: async () => withDialect(await startAnthropic(), toMessage, toConversation),
};
