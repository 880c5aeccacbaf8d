import type { ToolCall } from "#events/thread.ts";
import { ApiError } from "../base/errors.ts";
import type { InputMessage } from "../turns/turnRequest.ts";
import type { Content } from "./schema.ts";

const invalid = (param: string, message: string) => new ApiError(null, `${param} ${message}`, { param });

function readString(value: unknown, param: string): string {
  if (typeof value === "string") return value;
  throw invalid(param, "must be a string.");
}

function readCall(value: unknown, at: string): ToolCall {
  const { id, function: called } = (value ?? {}) as { id?: unknown; function?: Record<string, unknown> | null };
  const { name, arguments: args } = called ?? {};
  return {
    id: readString(id, `${at}.id`),
    name: readString(name, `${at}.function.name`),
    arguments: readString(args, `${at}.function.arguments`),
    client: true,
  };
}

/** Reads the calls of an assistant message; undefined if it has none. */
export function readCalls({ tool_calls }: { tool_calls?: unknown }, at: string): ToolCall[] | undefined {
  if (tool_calls === undefined || tool_calls === null) return undefined;
  if (!Array.isArray(tool_calls)) throw invalid(`${at}.tool_calls`, "must be an array of calls.");
  return tool_calls.length > 0 ? tool_calls.map((call, n) => readCall(call, `${at}.tool_calls[${n}]`)) : undefined;
}

/** Refuses parts that are not text. If they were ignored, the model would get an empty tool result. */
export function requireText(content: Content, at: string): void {
  const other = Array.isArray(content) ? content.findIndex(({ type }) => type !== "text") : -1;
  if (other >= 0) throw invalid(`${at}[${other}]`, "must be a text part: a tool's result is text.");
}

/** Builds the message with the result of one call of the caller's own tools. */
export const readResult = ({ tool_call_id }: { tool_call_id?: unknown }, text: string, at: string): InputMessage => ({
  role: "tool",
  text,
  files: [],
  call_id: readString(tool_call_id, `${at}.tool_call_id`),
  param: `${at}.tool_call_id`,
});
