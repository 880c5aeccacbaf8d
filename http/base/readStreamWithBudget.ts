import type { FastifyRequest } from "fastify";
import type { RecordedEvent } from "#events/envelope.ts";
import type { Http } from "./deps.ts";
import { MAX_UNCOUNTED_BYTES } from "./sendFile.ts";

/** Counts what is read for a request. */
export type ReadBudget = Pick<FastifyRequest, "countBytes" | "acquireLongRead">;

/** Counts what `read` reads only until it ends, for requests that read many things one after the other. */
export async function releaseAfter<T>(request: ReadBudget, read: (budget: ReadBudget) => Promise<T>): Promise<T> {
  let counted = 0;
  const budget: ReadBudget = {
    acquireLongRead: () => request.acquireLongRead(),
    countBytes(bytes) {
      request.countBytes(bytes);
      counted += bytes;
    },
  };
  try {
    return await read(budget);
  } finally {
    if (counted > 0) request.countBytes(-counted);
  }
}

/**
 * Reads a stream's events for an answer. The read of a long stream waits for a place, and its bytes count for the organization
 * until the client has the answer. Throws 429 `too_many_bytes`, and Unavailable.
 */
export async function readStreamWithBudget(
  { streamPages }: Pick<Http, "streamPages">,
  request: ReadBudget,
  stream: string,
): Promise<RecordedEvent[]> {
  const events: RecordedEvent[] = [];
  let [read, counted] = [0, 0];
  for await (const page of streamPages(stream)) {
    read += page.bytes;
    if (read > MAX_UNCOUNTED_BYTES) {
      await request.acquireLongRead();
      request.countBytes(read - counted);
      counted = read;
    }
    for (const event of page.events) events.push(event);
  }
  return events;
}
