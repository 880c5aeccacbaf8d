import { setTimeout as sleep } from "node:timers/promises";
import type { FastifyRequest } from "fastify";
import type { RecordedEvent } from "#events/envelope.ts";
import { Unavailable } from "#events/ports.ts";
import type { Http } from "./deps.ts";
import { ApiError } from "./errors.ts";
import { MAX_UNCOUNTED_BYTES } from "./sendFile.ts";

/** How often, and how many times, an answer that is being sent looks for room. */
const RETRY_MS = 500;
const MAX_TRIES = 120;

/** Counts bytes that an organization holds: a request, or a part of its work. */
export interface Holder {
  holds(bytes: number): void | Promise<void>;
  /** Waits for the place of a long read. */
  readsMuch?(): Promise<void>;
}

/**
 * The events of a stream, for an answer. A long stream counts, while it is read, as bytes that the organization holds until the
 * client has the answer. Throws 429 `too_many_bytes`, and Unavailable.
 */
export async function readCounted(
  { streamPages }: Pick<Http, "streamPages">,
  holder: Holder,
  stream: string,
): Promise<RecordedEvent[]> {
  const events: RecordedEvent[] = [];
  let [read, counted] = [0, 0];
  for await (const page of streamPages(stream)) {
    read += page.bytes;
    if (read > MAX_UNCOUNTED_BYTES) {
      await holder.readsMuch?.();
      await holder.holds(read - counted);
      counted = read;
    }
    for (const event of page.events) events.push(event);
  }
  return events;
}

/** One of many parts of a request's work: `release` lets go what it has counted, so that the next part does not add to it. */
export function openPart(request: Pick<FastifyRequest, "holds">) {
  let held = 0;
  return {
    holds(bytes: number): void {
      request.holds(bytes);
      held += bytes;
    },
    release(): void {
      request.holds(-held);
      held = 0;
    },
  };
}

const hasNoRoom = (error: unknown): boolean =>
  error instanceof Unavailable || (error instanceof ApiError && error.errorCode === "too_many_bytes");

/** The same for an answer that is being sent and cannot be refused any more: it waits until its organization holds less. */
export function openPatientPart(request: Pick<FastifyRequest, "holds">) {
  const part = openPart(request);
  return {
    ...part,
    async holds(bytes: number): Promise<void> {
      for (let tries = 1; ; tries++)
        try {
          return part.holds(bytes);
        } catch (error) {
          if (tries === MAX_TRIES || !hasNoRoom(error)) throw error;
          await sleep(RETRY_MS);
        }
    },
  };
}
