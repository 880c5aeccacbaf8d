import type { ServerResponse } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import type { SeenRequest } from "./loopback.ts";

/** A chat completion; what is left out is as with a real provider. */
export interface Completion {
  /** Default: what the user said last. */
  text?: string;
  reasoning?: string;
  /** Name of the field the reasoning comes in. */
  reasoning_field?: "reasoning_content" | "reasoning";
  annotations?: unknown[];
  /** Tools that it wants; then it says nothing unless `text` is given, and finishes with `tool_calls`. */
  tool_calls?: { name: string; arguments: string | object; [more: string]: unknown }[];
  finish_reason?: string | null;
  /** Null: the provider counts nothing. */
  usage?: unknown;
  /** Before each chunk of a stream. */
  delay_ms?: number;
  /** Where a stream breaks off: within an event, or after the last text; `end`: it ends there in good order. */
  cut?: "mid-event" | "after-text" | "end";
}

export type Reply =
  | Completion
  /** Any answer; a body that is no string is sent as JSON. */
  | { status: number; headers?: Record<string, string>; body?: unknown }
  /** Full control of the response. */
  | { write(response: ServerResponse): void | Promise<void> };

const USAGE = {
  prompt_tokens: 12,
  completion_tokens: 7,
  total_tokens: 19,
  prompt_tokens_details: { cached_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 0 },
};

const lastText = (messages: any[] = []): string => {
  const content = messages.findLast(({ role }) => role === "user")?.content ?? "";
  return typeof content === "string" ? content : content.map(({ text = "" }) => text).join("");
};

const filled = (completion: Completion, { body }: SeenRequest) => ({
  text: completion.tool_calls ? "" : lastText(body.messages),
  finish_reason: completion.tool_calls ? "tool_calls" : "stop",
  usage: USAGE,
  ...completion,
});

const base = (model: string, object: string) => ({ id: "chatcmpl-test", object, created: 1_700_000_000, model });

const said = ({ reasoning, reasoning_field = "reasoning_content", annotations }: Completion) => ({
  ...(reasoning !== undefined && { [reasoning_field]: reasoning }),
  ...(annotations && { annotations }),
});

/** As OpenAI numbers and names them. */
const callsOf = ({ tool_calls = [] }: Completion) =>
  tool_calls.map(({ name, arguments: args, ...more }, index) => ({
    index,
    id: `call_${index}`,
    type: "function",
    function: { name, arguments: typeof args === "string" ? args : JSON.stringify(args) },
    ...more,
  }));

/** Each call begins with its name; then their arguments come piece by piece, by turns. */
function* callDeltas(completion: Completion) {
  const calls = callsOf(completion);
  for (const call of calls) yield { ...call, function: { ...call.function, arguments: "" } };
  const pieces = calls.map(({ function: { arguments: args } }) => args.match(/.{1,7}/gs) ?? []);
  for (let n = 0; n < Math.max(0, ...pieces.map(({ length }) => length)); n++)
    for (const [index, list] of pieces.entries()) if (list[n]) yield { index, function: { arguments: list[n] } };
}

function sendWhole(completion: ReturnType<typeof filled>, { body }: SeenRequest, response: ServerResponse): void {
  const tool_calls = callsOf(completion).map(({ index: _, ...call }) => call);
  const spoken = { content: completion.text || (tool_calls.length > 0 ? null : ""), refusal: null };
  const message = { role: "assistant", ...spoken, ...said(completion), ...(tool_calls.length > 0 && { tool_calls }) };
  const choices = [{ index: 0, message, logprobs: null, finish_reason: completion.finish_reason }];
  const { usage } = completion;
  const whole = { ...base(body.model, "chat.completion"), choices, ...(usage !== null && { usage }) };
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(whole));
}

/** A frame of a stream. */
export const frame = (data: unknown): string => `data: ${JSON.stringify(data)}\n\n`;

async function sendStream(completion: ReturnType<typeof filled>, { body }: SeenRequest, response: ServerResponse) {
  const counts = completion.usage !== null && body.stream_options?.include_usage === true;
  const chunk = (delta: unknown, finish_reason: unknown = null) =>
    frame({
      ...base(body.model, "chat.completion.chunk"),
      choices: [{ index: 0, delta, logprobs: null, finish_reason }],
      ...(counts && { usage: null }),
    });
  const { text, cut, delay_ms } = completion;
  response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" });
  response.write(chunk({ role: "assistant", content: "" }));
  if (completion.reasoning !== undefined) response.write(chunk(said({ ...completion, annotations: undefined })));
  for (const word of text.match(/\s*\S+\s*/g) ?? []) {
    if (delay_ms !== undefined) await wait(delay_ms);
    response.write(chunk({ content: word }));
  }
  for (const call of callDeltas(completion)) response.write(chunk({ tool_calls: [call] }));
  if (completion.annotations) response.write(chunk({ annotations: completion.annotations }));
  if (cut === "end") return response.end();
  if (cut)
    return response.write(cut === "mid-event" ? chunk({ content: "never seen" }).slice(0, 40) : "", () =>
      response.destroy(),
    );
  if (completion.finish_reason !== null) response.write(chunk({}, completion.finish_reason));
  if (counts)
    response.write(frame({ ...base(body.model, "chat.completion.chunk"), choices: [], usage: completion.usage }));
  return response.end("data: [DONE]\n\n");
}

/** Answers one request as told. */
export async function reply(told: Reply, request: SeenRequest, response: ServerResponse): Promise<void> {
  if ("write" in told) return told.write(response);
  if ("status" in told) {
    const body = typeof told.body === "string" ? told.body : JSON.stringify(told.body ?? {});
    response.writeHead(told.status, { "content-type": "application/json", ...told.headers }).end(body);
    return;
  }
  const completion = filled(told, request);
  if (request.body.stream === true) await sendStream(completion, request, response);
  else sendWhole(completion, request, response);
}
