import type {
  ChatCompletionContentPart,
  ChatCompletionCreateParamsBase,
  ChatCompletionMessageParam,
  ChatCompletionToolChoiceOption,
} from "openai/resources/chat/completions";
import { isSentAsPicture } from "#events/requestSize.ts";
import type { ModelMessage, ModelRequest, Part } from "#services/turns/model.ts";
import { fitCallId } from "../wire/callId.ts";
import { messageText } from "../wire/messageText.ts";
import { parseState } from "./callAssembler.ts";

const toDataUrl = (file: Extract<Part, { type: "file" }>): string =>
  `data:${file.mime_type};base64,${file.bytes.toString("base64")}`;

const toContentPart = (part: Part): ChatCompletionContentPart => {
  if (part.type === "text") return part;
  if (isSentAsPicture(part.mime_type)) return { type: "image_url", image_url: { url: toDataUrl(part) } };
  return { type: "file", file: { filename: part.filename, file_data: toDataUrl(part) } };
};

/** Plain text stays a string, because some compatible servers accept no list of parts. */
const userContent = (parts: Part[]): string | ChatCompletionContentPart[] =>
  parts.every((part) => part.type === "text")
    ? messageText(parts)
    : parts.filter((part) => part.type === "file" || part.text !== "").map(toContentPart);

/** Shortens ids of calls, because OpenAI refuses longer ones. */
const toWireId = (id: string): string => fitCallId(id, /^.{1,40}$/s);

/** An answer with calls is sent back with its text and the provider's own state. */
function toAssistantMessage({ parts, calls, opaque }: Extract<ModelMessage, { role: "assistant" }>) {
  if (!calls) return { role: "assistant" as const, content: messageText(parts) };
  const { extra_content, ...state } = parseState(opaque);
  const tool_calls = calls.map(({ id, name, arguments: args }, n) => ({
    id: toWireId(id),
    type: "function" as const,
    function: { name, arguments: args },
    ...(extra_content?.[n] != null && { extra_content: extra_content[n] }),
  }));
  return { role: "assistant" as const, content: messageText(parts) || null, ...state, tool_calls };
}

function toWireMessage(message: ModelMessage): ChatCompletionMessageParam {
  if (message.role === "user") return { role: "user", content: userContent(message.parts) };
  if (message.role === "assistant") return toAssistantMessage(message);
  return { role: "tool", tool_call_id: toWireId(message.call_id), content: messageText(message.parts) };
}

function toMessages({ instructions, messages }: ModelRequest): ChatCompletionMessageParam[] {
  // not `developer`: compatible servers refuse that role, and OpenAI accepts `system` for every model
  const system: ChatCompletionMessageParam[] = instructions === null ? [] : [{ role: "system", content: instructions }];
  return [...system, ...messages.map(toWireMessage)];
}

const toToolChoice = (choice: ModelRequest["tool_choice"]): ChatCompletionToolChoiceOption =>
  typeof choice === "string" ? choice : { type: "function", function: choice };

const toolParams = ({ tools, tool_choice }: ModelRequest) => ({
  tools: tools.map(({ name, description, parameters }) => ({
    type: "function" as const,
    function: { name, description, parameters },
  })),
  ...(tool_choice !== "auto" && { tool_choice: toToolChoice(tool_choice) }),
});

/** OpenAI's reasoning models refuse `max_tokens`, and many compatible servers accept nothing else. */
const outputLimit = (limit: number, isOpenai: boolean) =>
  isOpenai ? { max_completion_tokens: limit } : { max_tokens: limit };

/** The body of a chat completion; unset options are absent. `isOpenai`: the request goes to OpenAI itself. */
export function toRequestBody(request: ModelRequest, isOpenai: boolean): ChatCompletionCreateParamsBase {
  return {
    model: request.model,
    messages: toMessages(request),
    ...(request.temperature !== null && { temperature: request.temperature }),
    ...(request.top_p !== null && { top_p: request.top_p }),
    ...(request.max_output_tokens !== null && outputLimit(request.max_output_tokens, isOpenai)),
    ...(request.stop.length > 0 && { stop: request.stop }),
    ...(request.seed !== null && { seed: request.seed }),
    ...(request.response_format.type !== "text" && { response_format: request.response_format }),
    ...(request.user !== null && { user: request.user }),
    // passes any word: the provider decides what the model accepts
    ...(request.reasoning_effort !== null && {
      reasoning_effort: request.reasoning_effort as ChatCompletionCreateParamsBase["reasoning_effort"],
    }),
    ...(request.tools.length > 0 && toolParams(request)),
  };
}
