import { parseOr, withDialect, type Answer, type Conversation, type Dialect, type DialectDouble } from "../dialect.ts";
import { startOpenai, type OpenaiDouble } from "../openai.ts";
import { frame, type Completion } from "./reply.ts";

const toCompletion = ({ calls, state, finish, error, ...answer }: Answer): Completion => ({
  ...answer,
  ...(calls && {
    tool_calls: calls.map(({ name, args }) => ({ name, arguments: args, ...(state && { extra_content: { state } }) })),
  }),
  ...(finish !== undefined && { finish_reason: finish }),
  ...(error !== undefined && { error: { message: error } }),
});

const textOf = (content: any): string[] =>
  typeof content === "string" ? [content] : (content ?? []).flatMap(({ text }: any) => text ?? []);

function toConversation({ messages, tools = [] }: any): Conversation {
  const [first, ...others] = messages;
  const spoken = first.role === "system" ? others : messages;
  const calls = messages.flatMap(({ tool_calls = [] }: any) => tool_calls);
  const lastParts = messages.at(-1).content;
  return {
    instructions: first.role === "system" ? first.content : undefined,
    texts: spoken.flatMap(({ role, content }: any) => (role === "tool" ? [] : textOf(content))),
    files: (Array.isArray(lastParts) ? lastParts : []).flatMap(
      ({ image_url, file }: any) => /^data:([^;]+)/.exec(image_url?.url ?? file?.file_data ?? "")?.[1] ?? [],
    ),
    tools: tools.map((tool: any) => tool.function.name),
    calls: calls.map((call: any) => ({
      id: call.id,
      name: call.function.name,
      args: parseOr(call.function.arguments, {}),
    })),
    results: messages.flatMap(({ role, tool_call_id: id, content }: any) =>
      role === "tool" ? { id, output: parseOr(content, content) } : [],
    ),
    state: [
      ...messages.flatMap(({ reasoning_content }: any) => reasoning_content ?? []),
      ...calls.flatMap(({ extra_content }: any) => extra_content?.state ?? []),
    ],
  };
}

const chunk = (delta: object, finish_reason: string | null = null) =>
  frame({ choices: [{ index: 0, delta, finish_reason }] });

export const OPENAI: Dialect<DialectDouble & Pick<OpenaiDouble, "answers" | "script">> = {
  name: "openai",
  model: "gpt-test",
  apiKey: "sk-canary-0123456789",
  wrongKey: { apiKey: "wrong", status: 401, message: "Incorrect API key provided." },
  keyHeader: (apiKey) => ["authorization", `Bearer ${apiKey}`],
  settings: ["OPENAI_API_KEY", "OPENAI_BASE_URL"],
  origin: "https://api.openai.com",
  pathSuffixes: ["", "/"],
  environment: {
    OPENAI_BASE_URL: "https://elsewhere.example/v1",
    OPENAI_API_KEY: "sk-environment",
    OPENAI_ORG_ID: "org-environment",
    OPENAI_PROJECT_ID: "proj-environment",
    OPENAI_CUSTOM_HEADERS: "x-secret: environment",
  },
  alwaysStreams: false,
  finishReasons: [
    ["stop", "stop"],
    ["length", "length"],
    ["content_filter", "content_filter"],
    ["tool_calls", "tool_calls"],
    ["function_call", "tool_calls"],
    ["eos_token", "stop"],
    ["constructor", "stop"],
  ],
  usage: {
    raw: {
      prompt_tokens: 20,
      completion_tokens: 9,
      prompt_tokens_details: { cached_tokens: 16 },
      completion_tokens_details: { reasoning_tokens: 4 },
    },
    counted: { prompt_tokens: 20, completion_tokens: 9, cached_tokens: 16, reasoning_tokens: 4 },
  },
  unusableUsages: [
    null,
    {},
    "many",
    { prompt_tokens: -1, completion_tokens: 2 },
    { prompt_tokens: 2, completion_tokens: Number.MAX_SAFE_INTEGER },
    { prompt_tokens: 2, completion_tokens: 20_000_001 },
    { prompt_tokens: 0, completion_tokens: 0 },
  ],
  errorBody: (_, message) => ({ error: { message, type: "x" } }),
  frames: {
    start: "",
    text: (content) => chunk({ content }),
    finish: chunk({}, "stop"),
    unknown: [frame({}), frame({ choices: [] }), frame({ choices: [{ index: 0, delta: { hologram: 5 } }] })],
    broken: [
      ["half JSON", 'data: {"choices":[{"delta":\n\n'],
      ["an error event", `event: error\n${frame({ message: "overloaded" })}`],
    ],
  },
  start: async () => withDialect(await startOpenai(), toCompletion, toConversation),
};
