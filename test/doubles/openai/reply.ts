import type { ServerResponse } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import { writePieces, type Pieces, type ReceivedRequest } from "../loopback.ts";
import type { Cut } from "../modelDouble.ts";

/** A chat completion. Omitted fields get the values that a real provider sends. */
export interface Completion {
  /** Default: the last user message, or nothing if there are calls. */
  text?: string;
  /** A stream sends it word by word, after the text. */
  refusal?: string;
  reasoning?: string;
  /** Name of the field that carries the reasoning. */
  reasoning_field?: "reasoning_content" | "reasoning";
  annotations?: unknown[];
  tool_calls?: { name: string; arguments: string | object; [more: string]: unknown }[];
  /** Default: `tool_calls` if there are calls, else `stop`; null: none. */
  finish_reason?: string | null;
  /** Null: the provider counts nothing. */
  usage?: unknown;
  /** Before each text chunk of a stream. */
  delay_ms?: number;
  /** Of a stream; a buffered answer is always whole. */
  cut?: Cut;
  /** An error in the stream, after the text. */
  error?: object;
  pieces?: Pieces;
}

const USAGE = {
  prompt_tokens: 12,
  completion_tokens: 7,
  total_tokens: 19,
  prompt_tokens_details: { cached_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 0 },
};

const lastUserText = (messages: any[] = []): string => {
  const content = messages.findLast(({ role }) => role === "user")?.content ?? "";
  return typeof content === "string" ? content : content.map(({ text = "" }) => text).join("");
};

const withDefaults = (completion: Completion, { body }: ReceivedRequest) => ({
  text: completion.tool_calls || completion.refusal !== undefined ? "" : lastUserText(body.messages),
  finish_reason: completion.tool_calls ? "tool_calls" : "stop",
  usage: USAGE,
  ...completion,
});
type FullCompletion = ReturnType<typeof withDefaults>;

const envelope = (model: string, object: string) => ({ id: "chatcmpl-test", object, created: 1_700_000_000, model });

const extraFields = ({ reasoning, reasoning_field = "reasoning_content", annotations }: Completion) => ({
  ...(reasoning !== undefined && { [reasoning_field]: reasoning }),
  ...(annotations && { annotations }),
});

const toWireCalls = ({ tool_calls = [] }: Completion) =>
  tool_calls.map(({ name, arguments: args, ...more }, index) => ({
    index,
    id: `call_${index}`,
    type: "function",
    function: { name, arguments: typeof args === "string" ? args : JSON.stringify(args) },
    ...more,
  }));

/** The names of all calls first, then pieces of their arguments in turn. */
function* callDeltas(completion: Completion) {
  const calls = toWireCalls(completion);
  for (const call of calls) yield { ...call, function: { ...call.function, arguments: "" } };
  const pieces = calls.map(({ function: { arguments: args } }) => args.match(/.{1,7}/gs) ?? []);
  for (let n = 0; n < Math.max(0, ...pieces.map(({ length }) => length)); n++)
    for (const [index, list] of pieces.entries()) if (list[n]) yield { index, function: { arguments: list[n] } };
}

async function sendBuffered(completion: FullCompletion, { body }: ReceivedRequest, response: ServerResponse) {
  const { finish_reason, pieces, text, usage } = completion;
  const tool_calls = toWireCalls(completion).map(({ index: _, ...call }) => call);
  const content = text || (tool_calls.length > 0 ? null : "");
  const message = {
    role: "assistant",
    content,
    refusal: completion.refusal ?? null,
    ...extraFields(completion),
    ...(tool_calls.length > 0 && { tool_calls }),
  };
  const choices = [{ index: 0, message, logprobs: null, finish_reason }];
  const json = JSON.stringify({
    ...envelope(body.model, "chat.completion"),
    choices,
    ...(usage !== null && { usage }),
  });
  response.writeHead(200, { "content-type": "application/json" });
  if (pieces) await writePieces(response, json, pieces);
  response.end(pieces ? undefined : json);
}

/** A frame of a stream. */
export const frame = (data: unknown): string => `data: ${JSON.stringify(data)}\n\n`;
export const sse = { "content-type": "text/event-stream; charset=utf-8" };

async function sendStream(completion: FullCompletion, { body }: ReceivedRequest, response: ServerResponse) {
  const { text, refusal, reasoning, annotations, cut, delay_ms, error, finish_reason, pieces, usage } = completion;
  const counts = usage !== null && body.stream_options?.include_usage === true;
  const base = envelope(body.model, "chat.completion.chunk");
  const write = (data: string) => writePieces(response, data, pieces);
  const chunk = (delta: unknown, reason: unknown = null) =>
    frame({
      ...base,
      choices: [{ index: 0, delta, logprobs: null, finish_reason: reason }],
      ...(counts && { usage: null }),
    });
  response.writeHead(200, { ...sse, "cache-control": "no-cache" });
  await write(chunk({ role: "assistant", content: "" }));
  for (const piece of reasoning?.match(/.{1,9}/gsu) ?? [])
    await write(chunk(extraFields({ ...completion, reasoning: piece, annotations: undefined })));
  for (const word of text.match(/\s*\S+\s*/g) ?? []) {
    if (delay_ms !== undefined) await wait(delay_ms);
    await write(chunk({ content: word }));
  }
  for (const word of refusal?.match(/\s*\S+\s*/g) ?? []) await write(chunk({ refusal: word }));
  for (const call of callDeltas(completion)) await write(chunk({ tool_calls: [call] }));
  if (annotations) await write(chunk({ annotations }));
  if (error) await write(frame({ error }));
  if (cut === "end") return response.end();
  if (cut)
    return response.write(cut === "mid-event" ? chunk({ content: "never seen" }).slice(0, 40) : "", () =>
      response.destroy(),
    );
  if (finish_reason !== null) await write(chunk({}, finish_reason));
  if (counts) await write(frame({ ...base, choices: [], usage }));
  return response.end("data: [DONE]\n\n");
}

/** Sends a completion, streamed if the request asks for it. */
export async function sendCompletion(completion: Completion, request: ReceivedRequest, response: ServerResponse) {
  const full = withDefaults(completion, request);
  if (request.body.stream === true) await sendStream(full, request, response);
  else await sendBuffered(full, request, response);
}
