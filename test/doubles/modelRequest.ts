import {
  ModelError,
  type Model,
  type ModelEvent,
  type ModelMessage,
  type ModelRequest,
  type Part,
} from "#services/turns/model.ts";

/** A request with one user message; `more` sets further fields. */
export const modelRequest = (text: string, more: Partial<ModelRequest> = {}, files: Part[] = []): ModelRequest => ({
  model: "gpt-test",
  instructions: null,
  messages: [{ role: "user", parts: [{ type: "text", text }, ...files] }],
  temperature: null,
  top_p: null,
  max_output_tokens: null,
  stop: [],
  seed: null,
  response_format: { type: "text" },
  user: null,
  reasoning_effort: null,
  tools: [],
  tool_choice: "auto",
  streamed: false,
  ...more,
});

export const filePart = (filename: string, mime_type: string, content: string): Part => ({
  type: "file",
  filename,
  mime_type,
  bytes: Buffer.from(content),
});

export const tool = (name: string) => ({
  name,
  description: `Does ${name}.`,
  parameters: { type: "object", properties: { q: { type: "string" } } },
});

/** All events of an answer. Throws what the model throws. */
export const collectEvents = (
  model: Model,
  request: ModelRequest,
  signal = new AbortController().signal,
): Promise<ModelEvent[]> => Array.fromAsync(model.complete(request, signal));

/** The error of an answer that fails, and the events before it. */
export async function collectFailure(
  model: Model,
  request: ModelRequest,
): Promise<{ events: ModelEvent[]; error: ModelError }> {
  const events: ModelEvent[] = [];
  try {
    for await (const event of model.complete(request, new AbortController().signal)) events.push(event);
  } catch (error) {
    if (error instanceof ModelError) return { events, error };
    throw error;
  }
  throw new Error("The model did not fail");
}

const joinTexts = (events: ModelEvent[], kind: "text" | "reasoning"): string =>
  events.map((event) => (event.type === kind ? event.text : "")).join("");
export const outputText = (events: ModelEvent[]): string => joinTexts(events, "text");
export const reasoningText = (events: ModelEvent[]): string => joinTexts(events, "reasoning");

/** The tool calls of an answer; undefined without any. */
export const callsEvent = (events: ModelEvent[]) => events.find((event) => event.type === "tool_calls");

/** The finish event, which must be the last and the only one. */
export function finishEvent(events: ModelEvent[]): Extract<ModelEvent, { type: "finish" }> {
  const finishes = events.filter((event) => event.type === "finish");
  const [finish] = finishes;
  if (!finish || finishes.length > 1 || events.at(-1) !== finish)
    throw new Error("There must be one finish, at the end");
  return finish;
}

/** The conversation after an answer with calls, as a turn continues it from its recorded events. */
export function afterCalls(before: ModelMessage[], events: ModelEvent[], result = '{"found":true}'): ModelMessage[] {
  const batch = callsEvent(events);
  if (!batch) throw new Error("The answer has no calls");
  const { calls, opaque } = JSON.parse(JSON.stringify(batch)) as typeof batch;
  const text = outputText(events);
  return [
    ...before,
    {
      role: "assistant",
      parts: text === "" ? [] : [{ type: "text", text }],
      calls,
      ...(opaque !== undefined && { opaque }),
    },
    ...calls.map(({ id }): ModelMessage => ({ role: "tool", call_id: id, parts: [{ type: "text", text: result }] })),
  ];
}
