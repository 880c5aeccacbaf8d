import { isUuid } from "#events/ids.ts";
import type { AgentRow } from "#projections/agents/query.ts";
import { ApiError } from "../base/errors.ts";
import type { ResponseRequest } from "./schema.ts";

const isAbsent = (value: unknown): boolean => value === undefined || value === null;

/** Refuses fields that the agent defines. An empty list of tools is accepted, because some clients always send it. */
export function refuseAgentFields(
  { tools, tool_choice, text }: ResponseRequest,
  { client_tools }: Pick<AgentRow, "client_tools">,
): void {
  const refused = !isAbsent(tools) && !(Array.isArray(tools) && tools.length === 0) ? "tools" : undefined;
  const param = refused ?? (isAbsent(tool_choice) ? undefined : "tool_choice");
  if (param && !client_tools)
    throw new ApiError(
      "tools_not_supported_for_agent",
      `${param} is not supported: an agent has its own tools. Leave the field out, or set client_tools on the agent to let its callers bring tools that they run.`,
      {
        param,
      },
    );
  const format = text?.format as { type?: unknown } | null | undefined;
  if (!isAbsent(format) && format!.type !== "text")
    throw new ApiError(
      "unsupported_response_format",
      `text.format.type must be text: an agent answers in words. For JSON by a schema, send response_format to /api/openai/v1/chat/completions.`,
      { param: "text.format.type" },
    );
}

/** The id of a response's turn. The `resp_` prefix is optional. Throws `invalid_response_id`. */
export function parseResponseId(id: string, param: string): string {
  const bare = id.replace(/^resp_/, "").toLowerCase();
  if (isUuid(bare)) return bare;
  throw new ApiError("invalid_response_id", `${param} must be the id of a response.`, { param });
}
