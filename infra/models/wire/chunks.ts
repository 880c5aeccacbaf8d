import type { EventSourceMessage } from "eventsource-parser";
import { parseLargeJson } from "#events/readLargeJson.ts";
import { errorMessage, reportedError } from "./errors.ts";
import { readServerEvents } from "./serverEvents.ts";

/** OpenAI's; the other formats have none. */
const END_MARK = "[DONE]";

/** UTF-16 units of an event that is parsed at once. */
const MAX_AT_ONCE = 1024 * 1024;

/** Throws a ModelError for an error within the stream, and a SyntaxError for what is not JSON. */
async function parseChunk({ event, data }: EventSourceMessage, apiKey: string): Promise<unknown> {
  const parsed: unknown = data.length > MAX_AT_ONCE ? await parseLargeJson(Buffer.from(data)) : JSON.parse(data);
  const chunk = parsed as { error?: unknown } | null;
  if (chunk?.error || event === "error")
    throw reportedError(
      errorMessage(chunk) ?? (data.length > MAX_AT_ONCE ? data : JSON.stringify(chunk?.error ?? chunk)),
      chunk,
      apiKey,
    );
  return chunk;
}

/** The chunks of a streamed answer up to its end mark, in lists of those that arrived together. Those before a failure come first. */
export async function* readChunks({ body }: Response, apiKey: string): AsyncGenerator<unknown[]> {
  for await (const events of readServerEvents(body as unknown as AsyncIterable<Uint8Array>)) {
    const chunks: unknown[] = [];
    try {
      for (const event of events) {
        if (event.data.startsWith(END_MARK)) return;
        if (event.data !== "") chunks.push(await parseChunk(event, apiKey));
      }
    } finally {
      yield chunks;
    }
  }
}
