import { ApiError } from "../errors.ts";
import type { CompletionRequest } from "./schema.ts";

const BUILT_IN = new Set(["web_search", "web_fetch", "search_documents", "read_document"]);

function namesOf(tools: unknown[]): string[] {
  return tools.map((tool, n) => {
    const name = (tool as { function?: { name?: unknown } } | null)?.function?.name;
    if (typeof name === "string") return name;
    const param = `tools[${n}].function.name`;
    throw new ApiError("unknown_tool", `${param} must be the name of a tool.`, { param });
  });
}

/** A named choice must be among the tools of the request. Throws 400 `invalid_tool_choice`. */
function checkChoice(choice: CompletionRequest["tool_choice"], names: string[]): void {
  if (typeof choice !== "object" || choice === null || names.includes(choice.function.name)) return;
  throw new ApiError("invalid_tool_choice", "tool_choice.function.name must be one of the request's tools.", {
    param: "tool_choice",
  });
}

/** Refuses tools and collections that cannot be had here (spec: Errors, Chat API). */
export function checkTools({ tools, tool_choice, response_format, knowledge }: CompletionRequest): void {
  if (response_format && tool_choice === "required")
    throw new ApiError("invalid_response_format", "response_format cannot be combined with tool_choice required.", {
      param: "response_format",
    });
  const names = namesOf(tools ?? []);
  checkChoice(tool_choice, names);
  for (const [n, name] of names.entries()) {
    const param = `tools[${n}].function.name`;
    if (!BUILT_IN.has(name)) throw new ApiError("unknown_tool", `${param}: there is no tool of this name.`, { param });
    throw new ApiError("tool_not_configured", `${param}: ${name} needs what is not configured here.`, { param });
  }
  if (knowledge?.collections?.length)
    throw new ApiError("unknown_collection", "knowledge.collections must name existing collections; there are none.", {
      param: "knowledge.collections",
    });
}
