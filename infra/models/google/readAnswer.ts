import { ModelError } from "#services/turns/model.ts";
import { readChunks } from "../wire/readChunks.ts";
import { Chunk } from "./answer.ts";

/** Maximum requests per answer. */
const MAX_REQUESTS = 32;
/** The finish reason of a request whose answer continues in another one. */
const CONTINUATION = "CONTINUATION";

/** A chunk, and the number of its request: each request counts its tokens separately. */
export interface PlacedChunk {
  chunk: Chunk;
  request: number;
}

/**
 * The chunks of an answer, in lists of those that arrived together. An answer that is too long for one request comes with a token,
 * by which another request continues it, also after a broken connection. `send` sends one request. Throws a ModelError if the
 * answer does not end.
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
