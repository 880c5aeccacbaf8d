import { encodeInPieces, isLargeJson } from "#events/largeJson.ts";
import { createPause } from "#events/slices.ts";
import type { StreamEvent } from "./foldState.ts";

/** An event of a response's stream. */
export type NumberedEvent = StreamEvent & { sequence_number: number };

/** Characters of short events that share a piece. */
const MAX_GATHERED = 64 * 1024;

/** Encodes one event as a frame of Server-Sent Events. */
export const encodeEvent = ({ type, sequence_number, ...event }: NumberedEvent): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number, ...event })}\n\n`;

interface LargeEvent {
  before: string;
  /** The pieces of its JSON, or of the response in it. */
  json: Buffer[];
  after: string;
}

/** Encodes long events. Each response is encoded once, because the first two events of a stream show the same one. */
function createLargeEncoder(): (event: NumberedEvent) => Promise<LargeEvent> {
  const responses = new Map<unknown, Buffer[]>();
  return async ({ type, sequence_number, response, ...event }) => {
    const before = `event: ${type}\ndata: `;
    const named = { type, sequence_number };
    if (response === undefined) return { before, json: await encodeInPieces({ ...named, ...event }), after: "\n\n" };
    const json = responses.get(response) ?? (await encodeInPieces(response));
    responses.set(response, json);
    return { before: `${before}${JSON.stringify(named).slice(0, -1)},"response":`, json, after: "}\n\n" };
  };
}

async function encodeInSlices(events: readonly NumberedEvent[]): Promise<Buffer[]> {
  const pieces: Buffer[] = [];
  const encodeLarge = createLargeEncoder();
  const pause = createPause();
  let text = "";
  const flush = (): void => {
    if (text !== "") pieces.push(Buffer.from(text));
    text = "";
  };
  for (const event of events) {
    await pause();
    if (isLargeJson(event)) {
      const { before, json, after } = await encodeLarge(event);
      text += before;
      flush();
      pieces.push(...json);
      text = after;
    } else text += encodeEvent(event);
    if (text.length > MAX_GATHERED) flush();
  }
  flush();
  return pieces;
}

/**
 * Encodes events as frames of Server-Sent Events, as one text if they are short. Long ones are encoded in pieces, and other work
 * runs in between: the first two events and the last one repeat the request's instructions, which may have 64 MiB.
 */
export async function encodeEvents(events: readonly NumberedEvent[]): Promise<string | Buffer[]> {
  return isLargeJson(events) ? encodeInSlices(events) : events.map(encodeEvent).join("");
}
