import { isUuid } from "#events/ids.ts";
import { ApiError } from "../errors.ts";
import type { ResponseRequest } from "./schema.ts";

const isAbsent = (value: unknown): boolean => value === undefined || value === null;

/** Refuses what an agent brings itself. Some clients always send an empty list of tools. */
export function checkFixed({ tools, tool_choice, text }: ResponseRequest): void {
  const refused = !isAbsent(tools) && !(Array.isArray(tools) && tools.length === 0) ? "tools" : undefined;
  const param = refused ?? (isAbsent(tool_choice) ? undefined : "tool_choice");
  if (param)
    throw new ApiError("tools_not_supported_for_agent", `${param}: an agent brings its own tools; leave it out.`, {
      param,
    });
  const format = (text as { format?: { type?: unknown } | null } | null | undefined)?.format;
  if (!isAbsent(format) && format!.type !== "text")
    throw new ApiError("unsupported_response_format", "text.format.type must be text.", { param: "text.format.type" });
}

/** The turn behind a response's id, prefixed or bare. Throws `invalid_response_id`. */
export function turnIdOf(id: string, param: string): string {
  const bare = id.replace(/^resp_/, "").toLowerCase();
  if (isUuid(bare)) return bare;
  throw new ApiError("invalid_response_id", `${param} must be the id of a response.`, { param });
}
