import { ModelError } from "#services/turns/model.ts";
import { readChunks } from "../wire/readChunks.ts";
import { Chunk } from "./answer.ts";

/** Requests that one answer may take. */
const MAX_REQUESTS = 32;
/** The finish reason of a request whose answer goes on in another one. */
const CONTINUATION = "CONTINUATION";

/** A chunk, and the request that it answers: each counts its tokens by itself. */
export interface PlacedChunk {
  chunk: Chunk;
  request: number;
}

/**
 * The chunks of an answer, in lists of those that arrived together. An answer that is too long for one request has a token, with which
 * another one continues it, also after a connection that broke off. `send` sends one request. Throws a ModelError for an endless answer.
 */
export async function* readAnswer(
  send: (continuationToken: string | undefined) => Promise<Response>,
  apiKey: string,
): AsyncGenerator<PlacedChunk[]> {
  let token: string | undefined;
  for (let request = 0; request < MAX_REQUESTS; request++) {
    const sentToken = token;
    let isFinished = false;
    try {
      for await (const raws of readChunks(await send(token), apiKey)) {
        const chunks = raws.flatMap((raw) => Chunk.safeParse(raw).data ?? []);
        for (const chunk of chunks) {
          const [candidate] = chunk.candidates;
          if (!candidate) {
            isFinished ||= Boolean(chunk.promptFeedback);
            continue;
          }
          token = candidate.continuationToken ?? token;
          if (candidate.finishReason === CONTINUATION && token !== sentToken) candidate.finishReason = null;
          isFinished ||= Boolean(candidate.finishReason);
        }
        yield chunks.map((chunk) => ({ chunk, request }));
      }
    } catch (error) {
      if (error instanceof ModelError || isFinished || token === sentToken) throw error;
    }
    if (isFinished || token === sentToken) return;
  }
  throw new ModelError("cut", "The provider's answer exceeds the size limit.");
}
