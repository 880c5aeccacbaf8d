import { createHash } from "node:crypto";
import type { ServerResponse } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import { writePieces, type Pieces } from "../loopback.ts";
import type { Cut } from "../modelDouble.ts";
import { mergeTexts } from "./rules.ts";

/** A part of an answer. `signed`: with a signature, which the provider makes. */
export type Part =
  | { text: string; signed?: boolean }
  | { thought: string }
  /** `id`: false if the model gives none. */
  | { call: string; args?: object; id?: boolean; signed?: boolean }
  /** A call of Google's own tool for pages with its answer, as it is shown next to functions. */
  | { page: string };

/** An answer. Omitted fields get the values that a real provider sends. */
export interface GoogleAnswer {
  /** Default: the text of the last user message. A text is streamed word by word. */
  parts?: Part[];
  /** Default: `STOP`; null: none. */
  finishReason?: string | null;
  /** Null: the provider counts nothing. */
  usage?: object | null;
  /** Pages that were read. `status`: if it is not success. */
  pages?: { url: string; title?: string; status?: string }[];
  /** The prompt was blocked: there is no answer. */
  blockReason?: string;
  /** The answer continues in another request with this token. */
  continuationToken?: string;
  /** Before each part. */
  delay_ms?: number;
  cut?: Cut;
  /** An error within the stream, after the parts. */
  error?: { code: number; status: string; message: string };
  pieces?: Pieces;
}

export const USAGE = { promptTokenCount: 12, candidatesTokenCount: 7, totalTokenCount: 19 };
export const sse = { "content-type": "text/event-stream" };
export const event = (data: unknown): string => `data: ${JSON.stringify(data)}\r\n\r\n`;

const lastUserText = (contents: any[]): string =>
  (contents.findLast(({ role }) => role === "user")?.parts ?? []).map(({ text = "" }) => text).join("");

let madeCount = 0;
const signature = () => createHash("sha256").update(`real ${madeCount++}`).digest("base64");

/** A part as the API streams it, a text in several. */
function toWireParts(part: Part): any[] {
  if ("thought" in part) return (part.thought.match(/.{1,9}/gsu) ?? []).map((text) => ({ text, thought: true }));
  if ("page" in part) {
    const id = `own-${madeCount++}`;
    return [
      { toolCall: { id, toolType: "URL_CONTEXT", args: { urls: [part.page] } }, thoughtSignature: signature() },
      { toolResponse: { id, toolType: "URL_CONTEXT", response: { read: part.page } }, thoughtSignature: signature() },
    ];
  }
  const signed = part.signed ? { thoughtSignature: signature() } : {};
  if ("call" in part) {
    const { call: name, args = {}, id = true } = part;
    return [{ functionCall: { ...(id && { id: `fc-${madeCount++}` }), name, args }, ...signed }];
  }
  if (part.signed) return [{ text: part.text, ...signed }];
  return (part.text.match(/\s*\S+\s*/g) ?? []).map((text) => ({ text }));
}

const pageMetadata = (pages: NonNullable<GoogleAnswer["pages"]>) => ({
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

async function stream(answer: GoogleAnswer, model: string, parts: any[], response: ServerResponse): Promise<void> {
  const { blockReason, continuationToken, cut, delay_ms, error, pages, usage = USAGE } = answer;
  const { finishReason = continuationToken === undefined ? "STOP" : "CONTINUATION" } = answer;
  const write = (text: string) => writePieces(response, text, answer.pieces);
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
      ...(pages && pageMetadata(pages)),
    }),
  );
  response.end();
}

/** Streams an answer to a request. `onIssued` gets its parts before. */
export async function sendAnswer(
  answer: GoogleAnswer,
  { contents }: any,
  model: string,
  response: ServerResponse,
  onIssued: (parts: any[]) => void,
): Promise<void> {
  const parts = (answer.parts ?? [{ text: lastUserText(contents) }]).flatMap(toWireParts);
  onIssued(mergeTexts(parts));
  await stream(answer, model, parts, response);
}
