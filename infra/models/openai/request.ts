import type {
  ChatCompletionContentPart,
  ChatCompletionCreateParamsBase,
  ChatCompletionMessageParam,
} from "openai/resources/chat/completions";
import type { ModelRequest, Part } from "#services/turns/model.ts";

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

function messagesOf({ instructions, messages }: ModelRequest): ChatCompletionMessageParam[] {
  /* Not `developer`: compatible servers refuse that role, and OpenAI takes `system` for every model. */
  const system: ChatCompletionMessageParam[] = instructions === null ? [] : [{ role: "system", content: instructions }];
  const conversation = messages.map(
    ({ role, parts }): ChatCompletionMessageParam =>
      role === "user" ? { role, content: userContent(parts) } : { role, content: textOf(parts) },
  );
  return [...system, ...conversation];
}

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
  };
}
