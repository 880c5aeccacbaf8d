import { z } from "zod";
import type { ToolCall as EventCall } from "#events/thread.ts";

/** A call of one of the caller's own tools, in the format of chat completions. */
export const ToolCall = z.object({
  id: z.string(),
  type: z.literal("function"),
  function: z.object({ name: z.string(), arguments: z.string().describe("JSON.") }),
});
export type ToolCall = z.infer<typeof ToolCall>;

/** Presents the calls of the caller's own tools. */
export const presentCalls = (calls: EventCall[] | undefined): { tool_calls?: ToolCall[] } =>
  calls
    ? {
        tool_calls: calls.map(({ id, name, arguments: args }) => ({
          id,
          type: "function",
          function: { name, arguments: args },
        })),
      }
    : {};
