import { createHash } from "node:crypto";
import type { ServerResponse } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import { writePieces, type Pieces } from "../loopback.ts";
import type { Cut } from "../modelDouble.ts";

/** A block of an answer, without the signatures and ids that the provider makes. */
export type Block = { text: string } | { thinking: string } | { redacted: string } | { tool: string; input: object };

/** An answer. Omitted fields get the values that a real provider sends. */
export interface Message {
  /** Default: the text of the last user message. */
  blocks?: Block[];
  /** Default: `tool_use` if there are calls, else `end_turn`; null: none. */
  stop_reason?: string | null;
  /** Null: the provider counts nothing. */
  usage?: object | null;
  /** Before each event. */
  delay_ms?: number;
  cut?: Cut;
  /** An error event after the blocks. */
  error?: { type: string; message: string };
  pieces?: Pieces;
}

export const USAGE = {
  input_tokens: 12,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  output_tokens: 7,
  output_tokens_details: { thinking_tokens: 0 },
};

export const sse = { "content-type": "text/event-stream; charset=utf-8" };
export const event = (type: string, data: object = {}): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;

const lastUserText = (messages: any[]): string =>
  (messages.findLast(({ role }) => role === "user")?.content ?? []).map(({ text = "" }) => text).join("");

const signatureOf = (thinking: string): string => createHash("sha256").update(`real ${thinking}`).digest("base64");

let callCount = 0;
/** A whole block as the API shows it. */
function toWireBlock(block: Block): any {
  if ("text" in block) return { type: "text", text: block.text, citations: null };
  if ("thinking" in block)
    return { type: "thinking", thinking: block.thinking, signature: signatureOf(block.thinking) };
  if ("redacted" in block) return { type: "redacted_thinking", data: block.redacted };
  return {
    type: "tool_use",
    id: `toolu_${callCount++}`,
    name: block.tool,
    input: block.input,
    caller: { type: "direct" },
  };
}

const pieces = (text: string, size: number): string[] => text.match(new RegExp(`.{1,${size}}`, "gsu")) ?? [];

/** A block starts empty; its text, signature or input follow in deltas. */
function* blockEvents(block: any, index: number): Generator<string> {
  const delta = (more: object) => event("content_block_delta", { index, delta: more });
  const start = (content_block: object) => event("content_block_start", { index, content_block });
  if (block.type === "text") {
    yield start({ ...block, text: "" });
    for (const text of block.text.match(/\s*\S+\s*/g) ?? []) yield delta({ type: "text_delta", text });
  } else if (block.type === "thinking") {
    yield start({ type: "thinking", thinking: "", signature: "" });
    for (const thinking of pieces(block.thinking, 9)) yield delta({ type: "thinking_delta", thinking });
    yield delta({ type: "signature_delta", signature: block.signature });
  } else if (block.type === "tool_use") {
    yield start({ ...block, input: {} });
    yield delta({ type: "input_json_delta", partial_json: "" });
    if (Object.keys(block.input).length > 0)
      for (const partial_json of pieces(JSON.stringify(block.input), 5))
        yield delta({ type: "input_json_delta", partial_json });
  } else yield start(block);
  yield event("content_block_stop", { index });
}

async function stream(message: Message, model: string, blocks: any[], response: ServerResponse): Promise<void> {
  const { cut, delay_ms, error, usage = USAGE } = message;
  const calls = blocks.some(({ type }) => type === "tool_use");
  const { stop_reason = calls ? "tool_use" : "end_turn" } = message;
  const write = (text: string) => writePieces(response, text, message.pieces);
  response.writeHead(200, sse);
  await write(
    event("message_start", {
      message: {
        id: "msg_test",
        type: "message",
        role: "assistant",
        model,
        content: [],
        stop_reason: null,
        stop_sequence: null,
        ...(usage && { usage: { ...usage, output_tokens: 1, output_tokens_details: null } }),
      },
    }),
  );
  await write(event("ping"));
  for (const [index, block] of blocks.entries())
    for (const piece of blockEvents(block, index)) {
      if (delay_ms !== undefined) await wait(delay_ms);
      await write(piece);
    }
  if (error) await write(event("error", { error }));
  if (error || cut === "end") return void response.end();
  if (cut)
    return void response.write(cut === "mid-event" ? event("message_delta", { delta: {} }).slice(0, 40) : "", () =>
      response.destroy(),
    );
  await write(event("message_delta", { delta: { stop_reason, stop_sequence: null }, ...(usage && { usage }) }));
  await write(event("message_stop"));
  response.end();
}

/** Streams an answer to a request. `onIssued` gets its blocks before. */
export async function sendMessage(
  message: Message,
  { messages, model }: any,
  response: ServerResponse,
  onIssued: (blocks: any[]) => void,
): Promise<void> {
  const blocks = (message.blocks ?? [{ text: lastUserText(messages) }]).map(toWireBlock);
  onIssued(blocks);
  await stream(message, model, blocks, response);
}
