import type {
  ChatCompletionContentPart,
  ChatCompletionCreateParamsBase,
  ChatCompletionMessageParam,
  ChatCompletionToolChoiceOption,
} from "openai/resources/chat/completions";
import type { ModelMessage, ModelRequest, Part } from "#services/turns/model.ts";
import { stateOf } from "./calls.ts";

const dataUrl = (file: Extract<Part, { type: "file" }>): string =>
  `data:${file.mime_type};base64,${file.bytes.toString("base64")}`;

const contentPart = (part: Part): ChatCompletionContentPart => {
  if (part.type === "text") return part;
  if (part.mime_type.startsWith("image/")) return { type: "image_url", image_url: { url: dataUrl(part) } };
  return { type: "file", file: { filename: part.filename, file_data: dataUrl(part) } };
};

const textOf = (parts: Part[]): string => parts.map((part) => (part.type === "text" ? part.text : "")).join("\n");

/** Plain text stays a string: some compatible servers know no list of parts. */
const userContent = (parts: Part[]): string | ChatCompletionContentPart[] =>
  parts.every((part) => part.type === "text")
    ? textOf(parts)
    : parts.filter((part) => part.type === "file" || part.text !== "").map(contentPart);

/** What asked for tools goes back as it came: text and state of the provider's own along with the calls. */
function assistantMessage({ parts, calls, opaque }: Extract<ModelMessage, { role: "assistant" }>) {
  if (!calls) return { role: "assistant" as const, content: textOf(parts) };
  const { extra_content, ...state } = stateOf(opaque);
  const tool_calls = calls.map(({ id, name, arguments: args }, n) => ({
    id,
    type: "function" as const,
    function: { name, arguments: args },
    ...(extra_content?.[n] != null && { extra_content: extra_content[n] }),
  }));
  return { role: "assistant" as const, content: textOf(parts) || null, ...state, tool_calls };
}

function wireMessage(message: ModelMessage): ChatCompletionMessageParam {
  if (message.role === "user") return { role: "user", content: userContent(message.parts) };
  if (message.role === "assistant") return assistantMessage(message);
  return { role: "tool", tool_call_id: message.call_id, content: textOf(message.parts) };
}

function messagesOf({ instructions, messages }: ModelRequest): ChatCompletionMessageParam[] {
  /* Not `developer`: compatible servers refuse that role, and OpenAI takes `system` for every model. */
  const system: ChatCompletionMessageParam[] = instructions === null ? [] : [{ role: "system", content: instructions }];
  return [...system, ...messages.map(wireMessage)];
}

const choiceOf = (choice: ModelRequest["tool_choice"]): ChatCompletionToolChoiceOption =>
  typeof choice === "string" ? choice : { type: "function", function: choice };

const toolsOf = ({ tools, tool_choice }: ModelRequest) => ({
  tools: tools.map(({ name, description, parameters }) => ({
    type: "function" as const,
    function: { name, description, parameters },
  })),
  ...(tool_choice !== "auto" && { tool_choice: choiceOf(tool_choice) }),
});

/** OpenAI's reasoning models refuse `max_tokens`, and many compatible servers know nothing else. */
const outputLimit = (limit: number, ownAddress: boolean) =>
  ownAddress ? { max_completion_tokens: limit } : { max_tokens: limit };

/** The body of a chat completion, with nothing in it that was not asked for. `ownAddress`: it goes to OpenAI itself. */
export function toWire(request: ModelRequest, ownAddress: boolean): ChatCompletionCreateParamsBase {
  return {
    model: request.model,
    messages: messagesOf(request),
    ...(request.temperature !== null && { temperature: request.temperature }),
    ...(request.top_p !== null && { top_p: request.top_p }),
    ...(request.max_output_tokens !== null && outputLimit(request.max_output_tokens, ownAddress)),
    ...(request.stop.length > 0 && { stop: request.stop }),
    ...(request.seed !== null && { seed: request.seed }),
    ...(request.response_format.type !== "text" && { response_format: request.response_format }),
    ...(request.user !== null && { user: request.user }),
    // any word: what a model understands by it is the provider's to say
    ...(request.reasoning_effort !== null && {
      reasoning_effort: request.reasoning_effort as ChatCompletionCreateParamsBase["reasoning_effort"],
    }),
    ...(request.tools.length > 0 && toolsOf(request)),
  };
}
