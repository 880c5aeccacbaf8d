import type { Usage } from "#events/thread.ts";
import { ModelError, type ModelEvent, type ModelRequest } from "#services/turns/model.ts";
import { readChunks } from "../wire/readChunks.ts";
import type { Client } from "../wire/client.ts";
import { createSizeLimit, endAnswer, outputPieces, PROGRESS, type Output } from "../wire/output.ts";
import { readUntilFinished } from "../wire/readUntilFinished.ts";
import { isCompletion, toAnswerPiece, toFinishReason, toUsage, type AnswerPiece, type Completion } from "./answer.ts";
import { createCallAssembler } from "./callAssembler.ts";
import { toRequestBody } from "./request.ts";

/** Units that a citation adds to the size of an answer, besides its URL and title. */
const CITATION_SIZE = 100;

const pieceSize = ({ text, refusal, reasoning, citations, calls }: AnswerPiece): number =>
  text.length +
  refusal.length +
  reasoning.length +
  citations.reduce((size, { url, title }) => size + url.length + title.length + CITATION_SIZE, 0) +
  calls.reduce((size, call) => size + JSON.stringify(call).length, 0);

const isCalling = ({ calls }: AnswerPiece): boolean =>
  calls.some(({ function: part }) => Boolean(part?.name || part?.arguments));

interface Server {
  client: Client;
  api_key: string;
  /** Whether the server is OpenAI itself, not a compatible one. */
  isOpenai: boolean;
}

type Share = ModelRequest["share"];

const PATH = "/chat/completions";

async function askWhole({ client }: Server, body: object, share: Share, signal: AbortSignal): Promise<Completion> {
  const response = await client(PATH, signal, { ...body, stream: false }, share);
  // a truncated answer may still have been JSON, a web page never was
  const isJson = response.headers.get("content-type")?.includes("json");
  const completion: unknown = await (isJson ? response.json() : response.text());
  if (!isCompletion(completion)) throw new ModelError("refused", "The provider's answer is not a chat completion.");
  return completion;
}

/** Collects an answer from a completion or its chunks. The last chunk with token counts determines the usage. */
function createCollector(request: ModelRequest) {
  const output: Output = { text: "", reasoning: "" };
  let refusal = "";
  let finishReason: string | null = null;
  let usage: Usage | undefined;
  const addSize = createSizeLimit(request);
  const calls = createCallAssembler();
  return {
    isFinished: () => finishReason !== null,
    add(completion: Completion): ModelEvent[] {
      usage = toUsage(completion.usage) ?? usage;
      const piece = toAnswerPiece(completion);
      if (!piece) return [];
      finishReason = piece.finish_reason ?? finishReason;
      output.text += piece.text;
      refusal += piece.refusal;
      output.reasoning += piece.reasoning;
      addSize(pieceSize(piece));
      calls.add(piece);
      const events: ModelEvent[] = outputPieces(piece);
      if (request.streamed && isCalling(piece)) events.push(PROGRESS);
      if (piece.citations.length > 0) events.push({ type: "citations", citations: piece.citations });
      return events;
    },
    end: () =>
      endAnswer(request, {
        output: { ...output, text: output.text + refusal },
        refusal: refusal || undefined,
        batch: calls.batch(),
        finish_reason: finishReason === null ? undefined : toFinishReason(finishReason),
        usage,
      }),
  };
}

type Collector = ReturnType<typeof createCollector>;

function streamAnswer(
  { client, api_key }: Server,
  body: object,
  share: Share,
  { add, isFinished }: Pick<Collector, "add" | "isFinished">,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent> {
  const streamed = { ...body, stream: true, stream_options: { include_usage: true } };
  const send = async (sendSignal: AbortSignal) => readChunks(await client(PATH, sendSignal, streamed, share), api_key);
  const toEvents = (raw: unknown) => (isCompletion(raw) ? add(raw) : []);
  // only the usage and the end mark follow the finish reason
  return readUntilFinished({ send, toEvents, isFinished }, signal);
}

/** Sends a request and yields the answer. Throws ModelErrors, and errors of the network and the parsers if an answer breaks off. */
export async function* complete(
  server: Server,
  request: ModelRequest,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent> {
  const body = toRequestBody(request, server.isOpenai);
  const answer = createCollector(request);
  if (request.streamed) yield* streamAnswer(server, body, request.share, answer, signal);
  else yield* answer.add(await askWhole(server, body, request.share, signal));
  yield* answer.end();
}
