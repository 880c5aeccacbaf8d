import type OpenAI from "openai";
import type { Usage } from "#events/thread.ts";
import { ModelError, type ModelEvent, type ModelRequest } from "#services/turns/model.ts";
import { createMeter, estimate } from "../wire/said.ts";
import { Answer, finishReason, pieceOf, usageOf, type Piece } from "./answer.ts";
import { createCalls } from "./calls.ts";
import { toWire } from "./request.ts";

/** What a source takes beside its words. */
const SOURCE_SIZE = 100;

const sizeOf = ({ text, reasoning, citations, calls }: Piece): number =>
  text.length +
  reasoning.length +
  citations.reduce((size, { url, title }) => size + url.length + title.length + SOURCE_SIZE, 0) +
  calls.reduce((size, call) => size + JSON.stringify(call).length, 0);

/** Pieces of an answer and, from the last that carries it, the usage. */
type Piecemeal = AsyncGenerator<{ piece: Piece | undefined; usage: Usage | undefined }>;

async function* streamed(client: OpenAI, body: ReturnType<typeof toWire>, signal: AbortSignal): Piecemeal {
  const stream = await client.chat.completions.create(
    { ...body, stream: true, stream_options: { include_usage: true } },
    { signal },
  );
  let finished = false;
  try {
    for await (const raw of stream) {
      const answer = Answer.safeParse(raw).data;
      if (!answer) continue;
      const piece = pieceOf(answer);
      finished ||= piece?.finish_reason != null;
      yield { piece, usage: usageOf(answer.usage) };
    }
  } catch (error) {
    /* Only the count of tokens and the end mark come after the reason to finish: the answer is whole. */
    if (!finished) throw error;
  }
}

async function* buffered(client: OpenAI, body: ReturnType<typeof toWire>, signal: AbortSignal): Piecemeal {
  const answer = Answer.safeParse(await client.chat.completions.create({ ...body, stream: false }, { signal })).data;
  if (!answer) throw new ModelError("refused", "The provider answered with something else than a chat completion.");
  yield { piece: pieceOf(answer), usage: usageOf(answer.usage) };
}

/** What the provider says to a request. Throws what the SDK throws, or a ModelError. */
export async function* complete(
  client: OpenAI,
  request: ModelRequest,
  ownAddress: boolean,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent> {
  const body = toWire(request, ownAddress);
  let text = "";
  let reasoning = "";
  let reason: string | null = null;
  let usage: Usage | undefined;
  const meter = createMeter();
  const calls = createCalls();
  for await (const said of request.streamed ? streamed(client, body, signal) : buffered(client, body, signal)) {
    usage = said.usage ?? usage;
    if (!said.piece) continue;
    reason = said.piece.finish_reason ?? reason;
    text += said.piece.text;
    reasoning += said.piece.reasoning;
    meter(sizeOf(said.piece));
    calls.add(said.piece);
    yield* events(said.piece);
  }
  if (reason === null) throw new ModelError("cut", "The provider's answer ended without a reason to finish.");
  const asked = calls.all();
  if (asked) yield { type: "tool_calls", ...asked };
  yield {
    type: "finish",
    finish_reason: finishReason(reason),
    usage: usage ?? (await estimate(request, text + (asked ? JSON.stringify(asked.calls) : ""), reasoning)),
  };
}

function* events({ reasoning, text, citations }: Piece): Generator<ModelEvent> {
  if (reasoning !== "") yield { type: "reasoning", text: reasoning };
  if (text !== "") yield { type: "text", text };
  if (citations.length > 0) yield { type: "citations", citations };
}
