import type { EventSourceMessage } from "eventsource-parser";
import { parseLargeText } from "#events/readLargeJson.ts";
import { errorMessage, reportedError } from "./errors.ts";
import { readServerEvents } from "./serverEvents.ts";

/** The end of an answer in OpenAI's format; other formats have no such mark. */
const END_MARK = "[DONE]";

/**
 * Maximum UTF-16 units of an error that is serialized again for its message. A longer one is quoted unchanged, because only its
 * beginning is shown.
 */
const MAX_ERROR = 64 * 1024;

/** Throws a ModelError if a chunk is an error. */
function throwReported({ event, data }: EventSourceMessage, chunk: unknown, apiKey: string): void {
  const error = (chunk as { error?: unknown } | null)?.error;
  if (!error && event !== "error") return;
  const text = data.length > MAX_ERROR ? data : JSON.stringify(error ?? chunk);
  throw reportedError(errorMessage(chunk) ?? text, chunk, apiKey);
}

/**
 * The chunks of a streamed answer up to its end mark, in lists of those that arrived together. Chunks before a failure are yielded
 * first. Throws a ModelError for a reported error, and a SyntaxError for invalid JSON.
 */
export async function* readChunks({ body }: Response, apiKey: string): AsyncGenerator<unknown[]> {
  for await (const events of readServerEvents(body as unknown as AsyncIterable<Uint8Array>)) {
    const chunks: unknown[] = [];
    try {
      for (const event of events) {
        if (event.data.startsWith(END_MARK)) return;
        if (event.data === "") continue;
        const parsed = parseLargeText(event.data);
        const chunk = parsed instanceof Promise ? await parsed : parsed;
        throwReported(event, chunk, apiKey);
        chunks.push(chunk);
      }
    } finally {
      yield chunks;
    }
  }
}
