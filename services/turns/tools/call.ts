import type { Source, ToolCall } from "#events/thread.ts";
import { KnowledgeError } from "./knowledge.ts";
import { WebError } from "./web.ts";
import { ToolError, type Calling, type Tool } from "./tool.ts";

/** What became of a call. `name` is null where no such tool was offered. */
export interface Called {
  name: string | null;
  status: "completed" | "failed";
  text: string;
  sources: Source[];
  duration_ms: number;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text.trim() === "" ? "{}" : text);
  } catch (error) {
    throw new ToolError("The arguments are not valid JSON; send one JSON object.", { cause: error });
  }
}

function find(offered: Tool[], name: string): Tool {
  const tool = offered.find((one) => one.name === name);
  if (tool) return tool;
  throw new ToolError(`There is no tool of this name here; there is ${offered.map((one) => one.name).join(", ")}.`);
}

/** Rejects as soon as the signal is aborted, whether or not the work heeds it. */
export function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let stop = () => {};
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason instanceof Error ? signal.reason : new Error(String(signal.reason)));
    signal.addEventListener("abort", stop, { once: true });
  });
  return Promise.race([work, aborted]).finally(() => signal.removeEventListener("abort", stop));
}

/**
 * Calls a tool. Whatever goes wrong is told to the model in words (spec: Chat API, behaviour 4); `onError` hears of what no
 * model can help. Throws only when the signal is aborted.
 */
export async function callTool(
  offered: Tool[],
  call: ToolCall,
  calling: Calling,
  onError: (error: unknown, tool: string) => void,
): Promise<Called> {
  const began = performance.now();
  const name = offered.some((tool) => tool.name === call.name) ? call.name : null;
  const done = (rest: Pick<Called, "status" | "text" | "sources">): Called => ({
    name,
    ...rest,
    duration_ms: Math.round(performance.now() - began),
  });
  calling.signal.throwIfAborted();
  try {
    const work = find(offered, call.name).run(parsed(call.arguments), calling);
    return done({ status: "completed", ...(await unlessAborted(work, calling.signal)) });
  } catch (error) {
    calling.signal.throwIfAborted();
    const told = error instanceof ToolError || error instanceof KnowledgeError || error instanceof WebError;
    if (!told) onError(error, call.name);
    const message = told ? error.message : "The tool failed; it may work later.";
    return done({ status: "failed", text: JSON.stringify({ error: message }), sources: [] });
  }
}
