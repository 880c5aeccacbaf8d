import { ApiError } from "../base/errors.ts";
import type { AttachmentSource } from "../turns/attachment.ts";
import type { InputMessage } from "../turns/turnRequest.ts";
import { readAttachment } from "./attachmentPart.ts";
import type { InputItem, Part } from "./schema.ts";

export const invalidInput = (param: string, message: string): ApiError =>
  new ApiError("invalid_input", `${param} ${message}`, { param });

function readString(value: unknown, param: string): string {
  if (typeof value === "string") return value;
  throw invalidInput(param, "must be a string.");
}

const OUTPUT_PARTS = "must be an input_text, input_image or input_file part.";

/** Reads the result of a call. Unknown parts are refused, because they would be lost. Throws the attachment codes as well. */
function readOutput(output: unknown, at: string): Pick<InputMessage, "text" | "files"> {
  if (typeof output === "string") return { text: output, files: [] };
  if (!Array.isArray(output)) throw invalidInput(at, "must be a string or an array of parts.");
  const texts: string[] = [];
  const files: AttachmentSource[] = [];
  for (const [n, part] of (output as (Part | null)[]).entries()) {
    const place = `${at}[${n}]`;
    const file = part && readAttachment(part, place);
    if (file) files.push(file);
    else if (part?.type === "input_text" && typeof part.text === "string") texts.push(part.text);
    else throw invalidInput(place, OUTPUT_PARTS);
  }
  return { text: texts.join("\n"), files };
}

/** What an agent's request says about tools of the caller's own. */
export interface OwnTools {
  isServerTool(name: string): boolean;
  /** Calls of the continued thread that ran on the server. */
  serverCalls: ReadonlySet<string>;
}

/**
 * Reads calls and results in the items of a request. Skips those of tools that ran on the server, which a client sends if it
 * repeats a whole conversation or runs every call it sees.
 */
export function createToolItemReader({ isServerTool, serverCalls }: OwnTools) {
  const skipped = new Set(serverCalls);
  return (item: InputItem, n: number): InputMessage | undefined => {
    const at = `input[${n}]`;
    const read = (field: "call_id" | "name" | "arguments") => readString(item[field], `${at}.${field}`);
    if (item.type === "function_call") {
      const call = { id: read("call_id"), name: read("name"), arguments: read("arguments"), client: true as const };
      const isServers = isServerTool(call.name);
      // some providers reuse ids
      if (isServers) skipped.add(call.id);
      else skipped.delete(call.id);
      return isServers ? undefined : { role: "assistant", text: "", files: [], calls: [call] };
    }
    if (item.type !== "function_call_output") return undefined;
    const call_id = read("call_id");
    if (skipped.has(call_id)) return undefined;
    return { role: "tool", ...readOutput(item.output, `${at}.output`), call_id, param: `${at}.call_id` };
  };
}

/** Adds a message. Calls are added to the preceding assistant message. */
export function addMessage(messages: InputMessage[], message: InputMessage): void {
  const last = messages.at(-1);
  if (message.calls && last?.role === "assistant") last.calls = [...(last.calls ?? []), ...message.calls];
  else messages.push(message);
}
