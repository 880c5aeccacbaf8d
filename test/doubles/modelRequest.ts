import { ModelError, type Model, type ModelEvent, type ModelRequest, type Part } from "#services/turns/model.ts";

/** A request in which the user says a text, with what else a test wants of it. */
export const asking = (text: string, more: Partial<ModelRequest> = {}, files: Part[] = []): ModelRequest => ({
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

export const file = (filename: string, mime_type: string, content: string): Part => ({
  type: "file",
  filename,
  mime_type,
  bytes: Buffer.from(content),
});

/** Everything a model says. Throws what the model throws. */
export const heard = (
  model: Model,
  request: ModelRequest,
  signal = new AbortController().signal,
): Promise<ModelEvent[]> => Array.fromAsync(model.complete(request, signal));

/** What was said before the failure, and the failure. */
export async function failed(model: Model, request: ModelRequest): Promise<{ said: ModelEvent[]; error: ModelError }> {
  const said: ModelEvent[] = [];
  try {
    for await (const event of model.complete(request, new AbortController().signal)) said.push(event);
  } catch (error) {
    if (error instanceof ModelError) return { said, error };
    throw error;
  }
  throw new Error("The model did not fail");
}

export const textOf = (events: ModelEvent[]): string =>
  events.map((event) => (event.type === "text" ? event.text : "")).join("");

/** The finish event, which must be the last and the only one. */
export function finishOf(events: ModelEvent[]): Extract<ModelEvent, { type: "finish" }> {
  const finishes = events.filter((event) => event.type === "finish");
  const [finish] = finishes;
  if (!finish || finishes.length > 1 || events.at(-1) !== finish)
    throw new Error("There must be one finish, at the end");
  return finish;
}
