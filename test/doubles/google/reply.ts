import { createHash } from "node:crypto";
import type { ServerResponse } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import { writePieces, type Pieces, type SeenRequest } from "../loopback.ts";
import { merged } from "./rules.ts";

/** A part of an answer. `signed`: it comes with a signature, which the provider makes. */
export type Part =
  | { text: string; signed?: boolean }
  | { thought: string }
  /** `id`: false where the model gives none. */
  | { call: string; args?: object; id?: boolean; signed?: boolean }
  /** What its own tool for pages was asked and answered, as it is shown beside functions. */
  | { page: string };

/** An answer; what is left out is as with a real provider. */
export interface Answer {
  /** Default: a text, what the user said last. Words come in several parts of their own. */
  parts?: Part[];
  /** Default: `STOP`; null: the answer ends without one. */
  finishReason?: string | null;
  /** Null: nothing is counted. */
  usage?: object | null;
  /** Pages that were read; `status` beside success. */
  pages?: { url: string; title?: string; status?: string }[];
  /** The question was blocked: there is no answer. */
  blockReason?: string;
  /** The answer goes on in another request that brings this token. */
  continuationToken?: string;
  /** Before each piece of an answer. */
  delay_ms?: number;
  /** The answer breaks off: within an event, after its parts, or there in good order. */
  cut?: "mid-event" | "after-parts" | "end";
  /** An error within the stream, after the parts. */
  error?: { code: number; status: string; message: string };
  pieces?: Pieces;
}

export type Reply =
  | Answer
  | { status: number; headers?: Record<string, string>; body?: unknown }
  | { write(response: ServerResponse): void | Promise<void> };

export const USAGE = { promptTokenCount: 12, candidatesTokenCount: 7, totalTokenCount: 19 };
export const sse = { "content-type": "text/event-stream" };
export const event = (data: unknown): string => `data: ${JSON.stringify(data)}\r\n\r\n`;

const lastText = (contents: any[]): string =>
  (contents.findLast(({ role }) => role === "user")?.parts ?? []).map(({ text = "" }) => text).join("");

let made = 0;
const signature = () => createHash("sha256").update(`real ${made++}`).digest("base64");

/** A part as the API sends it, words in several. */
function partsOf(part: Part): any[] {
  if ("thought" in part) return (part.thought.match(/.{1,9}/gsu) ?? []).map((text) => ({ text, thought: true }));
  if ("page" in part) {
    const id = `own-${made++}`;
    return [
      { toolCall: { id, toolType: "URL_CONTEXT", args: { urls: [part.page] } }, thoughtSignature: signature() },
      { toolResponse: { id, toolType: "URL_CONTEXT", response: { read: part.page } }, thoughtSignature: signature() },
    ];
  }
  const signed = part.signed ? { thoughtSignature: signature() } : {};
  if ("call" in part) {
    const { call: name, args = {}, id = true } = part;
    return [{ functionCall: { ...(id && { id: `fc-${made++}` }), name, args }, ...signed }];
  }
  if (part.signed) return [{ text: part.text, ...signed }];
  return (part.text.match(/\s*\S+\s*/g) ?? []).map((text) => ({ text }));
}

const metadata = (pages: NonNullable<Answer["pages"]>) => ({
  urlContextMetadata: {
    urlMetadata: pages.map(({ url, status = "URL_RETRIEVAL_STATUS_SUCCESS" }) => ({
      retrievedUrl: url,
      urlRetrievalStatus: status,
    })),
  },
  groundingMetadata: {
    groundingChunks: pages.flatMap(({ url, title }) => (title === undefined ? [] : [{ web: { uri: url, title } }])),
  },
});

async function stream(told: Answer, model: string, parts: any[], response: ServerResponse): Promise<void> {
  const { blockReason, continuationToken, cut, delay_ms, error, pages, usage = USAGE } = told;
  const { finishReason = continuationToken === undefined ? "STOP" : "CONTINUATION" } = told;
  const write = (text: string) => writePieces(response, text, told.pieces);
  const chunk = (candidate: object | undefined, more: object = {}) =>
    event({
      ...(candidate && { candidates: [{ ...candidate, index: 0 }] }),
      ...(usage && { usageMetadata: usage }),
      modelVersion: model,
      responseId: "test",
      ...more,
    });
  response.writeHead(200, sse);
  if (blockReason) return void response.end(chunk(undefined, { promptFeedback: { blockReason } }));
  for (const part of parts) {
    if (delay_ms !== undefined) await wait(delay_ms);
    await write(chunk({ content: { role: "model", parts: [part] } }));
  }
  if (error) await write(event({ error }));
  if (error || cut === "end") return void response.end();
  if (cut) return void response.write(cut === "mid-event" ? chunk({}).slice(0, 40) : "", () => response.destroy());
  await write(
    chunk({
      content: { role: "model", parts: [{ text: "" }] },
      ...(finishReason !== null && { finishReason }),
      ...(continuationToken !== undefined && { continuationToken }),
      ...(pages && metadata(pages)),
    }),
  );
  response.end();
}

/** Answers a request to generate as told; `issue` hears of the parts. */
export async function reply(
  told: Reply,
  { body }: SeenRequest,
  model: string,
  response: ServerResponse,
  issue: (parts: any[]) => void,
): Promise<void> {
  if ("write" in told) return told.write(response);
  if ("status" in told) {
    const text = typeof told.body === "string" ? told.body : JSON.stringify(told.body ?? {});
    response.writeHead(told.status, { "content-type": "application/json", ...told.headers }).end(text);
    return;
  }
  const parts = (told.parts ?? [{ text: lastText(body.contents) }]).flatMap(partsOf);
  issue(merged(parts));
  await stream(told, model, parts, response);
}
