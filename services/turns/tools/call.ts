import type { Source, ToolCall } from "#events/thread.ts";
import { KnowledgeError, SearchUnavailable } from "./knowledge.ts";
import { parseArguments } from "./parseArguments.ts";
import { ToolError, type ScriptUse, type Tool, type ToolContext } from "./tool.ts";
import { WebError } from "./web.ts";

/** A finished call, as it is recorded. */
export interface ToolOutcome extends Partial<ScriptUse> {
  /** Null for a tool that was not offered. */
  name: string | null;
  status: "completed" | "failed";
  text: string;
  sources: Source[];
  duration_ms: number;
}

function findTool(offered: Tool[], clientTools: Iterable<string>, name: string): Tool {
  const tool = offered.find((one) => one.name === name);
  if (tool) return tool;
  const names = [...offered.map((one) => one.name), ...clientTools];
  throw new ToolError(`There is no tool of this name here; there is ${names.join(", ")}.`);
}

/** Rejects as soon as the signal aborts, even if the work ignores the signal. */
export function rejectOnAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let stop = () => {};
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason instanceof Error ? signal.reason : new Error(String(signal.reason)));
    signal.addEventListener("abort", stop, { once: true });
  });
  return Promise.race([work, aborted]).finally(() => signal.removeEventListener("abort", stop));
}

/** The outcome of a call that does not run; the model reads the reason. */
export const refuseCall = (name: string, reason: string): ToolOutcome => ({
  name,
  status: "failed",
  text: JSON.stringify({ error: reason }),
  sources: [],
  duration_ms: 0,
});

/**
 * Runs a tool call. The model reads every failure as text (spec: Chat API, behaviour 4); `onError` gets failures that other
 * arguments would not mend. Throws only when the signal aborts.
 */
export async function callTool(
  offered: Tool[],
  call: ToolCall,
  context: ToolContext,
  onError: (error: unknown, tool: string) => void,
  clientTools: Iterable<string> = [],
): Promise<ToolOutcome> {
  const startedAt = performance.now();
  const name = offered.some((tool) => tool.name === call.name) ? call.name : null;
  const finish = (
    { text, sources, script }: Pick<ToolOutcome, "text" | "sources"> & { script?: ScriptUse | undefined },
    status: ToolOutcome["status"],
  ): ToolOutcome => ({
    name,
    status,
    text,
    sources,
    ...script,
    duration_ms: Math.round(performance.now() - startedAt),
  });
  context.signal.throwIfAborted();
  try {
    const work = findTool(offered, clientTools, call.name).run(parseArguments(call.arguments), context);
    return finish(await rejectOnAbort(work, context.signal), "completed");
  } catch (error) {
    context.signal.throwIfAborted();
    const isForModel = error instanceof ToolError || error instanceof KnowledgeError || error instanceof WebError;
    if (!isForModel || error instanceof SearchUnavailable) onError(error, call.name);
    const message = isForModel ? error.message : "The tool failed; it may work later.";
    const script = error instanceof ToolError ? error.script : undefined;
    return finish({ text: JSON.stringify({ error: message }), sources: [], script }, "failed");
  }
}
