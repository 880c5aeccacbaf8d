import { fileAttachment, imageAttachment, MAX_ATTACHMENTS, type Named } from "../chat/attachment.ts";
import type { Spoken } from "../chat/messages.ts";
import { ApiError } from "../errors.ts";
import { pathOf } from "../validate.ts";
import { Content, type InputItem, type Part, type ResponseRequest } from "./schema.ts";

const invalid = (param: string, message: string) => new ApiError("invalid_input", `${param} ${message}`, { param });

/** Parts of either side; the caller may echo an assistant's own words. */
const TEXTS = new Set(["input_text", "output_text"]);

/** What a message says, in one of the shapes that it may have. */
function contentOf(content: unknown, at: string): Content {
  const parsed = Content.safeParse(content);
  if (parsed.success) return parsed.data;
  const { path, message } = parsed.error.issues[0]!;
  throw invalid(`${at}${pathOf(path).replace(/^(?=[^[])/, ".")}`, `${message}.`);
}

function textOf(content: Content, at: string): string {
  if (typeof content === "string") return content;
  return content
    .flatMap(({ type, text }, n) => {
      if (!TEXTS.has(type)) return [];
      if (typeof text !== "string") throw invalid(`${at}[${n}].text`, "must be a string.");
      return [text];
    })
    .join("\n");
}

function attachmentOf(part: Part, at: string): Named | undefined {
  if (part.type === "input_file") return fileAttachment(part, at);
  if (part.type !== "input_image") return undefined;
  return typeof part.file_id === "string"
    ? fileAttachment({ file_id: part.file_id }, at)
    : imageAttachment(part.image_url, `${at}.image_url`);
}

const filesOf = (content: Content, at: string): Named[] =>
  Array.isArray(content) ? content.flatMap((part, n) => attachmentOf(part, `${at}[${n}]`) ?? []) : [];

export interface Input {
  /** System and developer messages, for this request only. */
  instructions: string[];
  messages: Spoken[];
}

/** A turn as an item tells it; undefined for an instruction, which is added to `instructions`. */
function spokenOf(item: InputItem, n: number, instructions: string[]): Spoken | undefined {
  const at = `input[${n}].content`;
  const content = contentOf(item.content, at);
  const { role } = item;
  switch (role) {
    case "system":
    case "developer":
      instructions.push(textOf(content, at));
      return undefined;
    case "assistant":
      return { role, text: textOf(content, at), files: [] };
    case "user":
      return { role, text: textOf(content, at), files: filesOf(content, at) };
    default:
      throw invalid(`input[${n}].role`, "must be one of user, assistant, system, developer.");
  }
}

function tooMany(messages: Spoken[], attachments: string[]): boolean {
  const files = messages.reduce((sum, message) => sum + message.files.length, 0);
  return files + attachments.length > MAX_ATTACHMENTS;
}

/**
 * The turns of a request (spec: Agent response request): an item of another type than `message` is skipped, the last user
 * message drives the run and must not be empty. Throws `invalid_input` and the attachment codes.
 */
export function readInput({ input, attachments: ids }: ResponseRequest): Input {
  const instructions: string[] = [];
  const items: InputItem[] = typeof input === "string" ? [{ role: "user", content: input }] : input;
  const messages = items.flatMap((item, n) =>
    (item.type ?? "message") === "message" ? (spokenOf(item, n, instructions) ?? []) : [],
  );
  const attachments = ids ?? [];
  if (tooMany(messages, attachments))
    throw new ApiError("too_many_attachments", `A request takes at most ${MAX_ATTACHMENTS} attachments.`, {
      param: "input",
    });
  const last = messages.findLast(({ role }) => role === "user");
  if (!last) throw invalid("input", "must hold a user message.");
  last.files.push(...attachments.map((file_id, n): Named => ({ kind: "stored", file_id, param: `attachments[${n}]` })));
  if (last.text.trim() === "" && last.files.length === 0) throw invalid("input", "ends with an empty user message.");
  return { instructions, messages };
}

/** The call whose result a client sends back, where that is the last thing it says: it thinks that it must run tools. */
export function answeredCall({ input }: ResponseRequest): string | undefined {
  if (typeof input === "string") return undefined;
  const last = input.at(-1);
  return last?.type === "function_call_output" && typeof last.call_id === "string" ? last.call_id : undefined;
}
