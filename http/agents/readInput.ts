import { ApiError } from "../base/errors.ts";
import { readValue } from "../base/validate.ts";
import { MAX_ATTACHMENTS, type AttachmentSource } from "../turns/attachment.ts";
import type { InputMessage } from "../turns/turnRequest.ts";
import { readAttachment } from "./attachmentPart.ts";
import { addMessage, createToolItemReader, invalidInput, type OwnTools } from "./toolItems.ts";
import { Content, type InputItem, type ResponseRequest } from "./schema.ts";

/** Text parts of users and of assistants: the caller may send earlier answers back. */
const TEXT_PARTS = new Set(["input_text", "output_text"]);

const parseContent = (content: unknown, at: string): Content =>
  readValue(Content, content, (place, reason) => invalidInput(`${at}${place}`, `${reason}.`));

function readText(content: Content, at: string): string {
  if (typeof content === "string") return content;
  return content
    .flatMap(({ type, text }, n) => {
      if (!TEXT_PARTS.has(type)) return [];
      if (typeof text !== "string") throw invalidInput(`${at}[${n}].text`, "must be a string.");
      return [text];
    })
    .join("\n");
}

const readFiles = (content: Content, at: string): AttachmentSource[] =>
  Array.isArray(content) ? content.flatMap((part, n) => readAttachment(part, `${at}[${n}]`) ?? []) : [];

export interface Input {
  /** System and developer messages, for this request only. */
  instructions: string[];
  messages: InputMessage[];
}

/** Reads the message in an item. Returns undefined for an instruction, which is added to `instructions` instead. */
function readMessage(item: InputItem, n: number, instructions: string[]): InputMessage | undefined {
  const at = `input[${n}].content`;
  const content = parseContent(item.content, at);
  const { role } = item;
  switch (role) {
    case "system":
    case "developer":
      instructions.push(readText(content, at));
      return undefined;
    case "assistant":
      return { role, text: readText(content, at), files: [] };
    case "user":
      return { role, text: readText(content, at), files: readFiles(content, at) };
    default:
      throw invalidInput(`input[${n}].role`, "must be one of user, assistant, system, developer.");
  }
}

function hasTooManyFiles(messages: InputMessage[], attachments: string[]): boolean {
  const files = messages.reduce((sum, message) => sum + message.files.length, 0);
  return files + attachments.length > MAX_ATTACHMENTS;
}

/**
 * Reads the messages of a request (spec: Agent response request). Other items are skipped, except calls and results of the
 * caller's own tools if it may have some. The last user message prompts the turn and must not be empty, unless there are tool
 * results. Throws `invalid_input` and the attachment codes.
 */
export function readInput({ input, attachments: ids }: ResponseRequest, ownTools?: OwnTools): Input {
  const instructions: string[] = [];
  const items: InputItem[] = typeof input === "string" ? [{ role: "user", content: input }] : input;
  const readToolItem = ownTools && createToolItemReader(ownTools);
  const messages: InputMessage[] = [];
  for (const [n, item] of items.entries()) {
    const isMessage = (item.type ?? "message") === "message";
    const message = isMessage ? readMessage(item, n, instructions) : readToolItem?.(item, n);
    if (message) addMessage(messages, message);
  }
  const attachments = ids ?? [];
  if (hasTooManyFiles(messages, attachments))
    throw new ApiError("too_many_attachments", `A request takes at most ${MAX_ATTACHMENTS} attachments.`, {
      param: attachments.length > MAX_ATTACHMENTS ? "attachments" : "input",
    });
  const last = messages.findLast(({ role }) => role === "user");
  if (!last && attachments.length === 0 && messages.some(({ role }) => role === "tool"))
    return { instructions, messages };
  if (!last) throw invalidInput("input", "must contain a user message.");
  last.files.push(
    ...attachments.map((file_id, n): AttachmentSource => ({ kind: "stored", file_id, param: `attachments[${n}]` })),
  );
  if (last.text.trim() === "" && last.files.length === 0)
    throw invalidInput("input", "must not end with an empty user message.");
  return { instructions, messages };
}

/** The ids of the tool calls whose results end the input. */
export function readToolResultCalls({ input }: ResponseRequest): string[] {
  if (typeof input === "string") return [];
  const isResult = ({ type, call_id }: InputItem) => type === "function_call_output" && typeof call_id === "string";
  const before = input.findLastIndex((item) => !isResult(item));
  return input.slice(before + 1).map(({ call_id }) => call_id as string);
}
