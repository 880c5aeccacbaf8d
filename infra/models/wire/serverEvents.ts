import { createParser, type EventSourceMessage } from "eventsource-parser";

/**
 * The Server-Sent Events of a body whose chunks end with complete characters, in lists of those that arrived together. A last event
 * without a blank line counts, too. Throws InvalidBody if an event does not end.
 */
export async function* readServerEvents(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<EventSourceMessage[]> {
  let events: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: (event) => void events.push(event) });
  // the parser would search the whole chunk again for each bare carriage return
  let held = "";
  const feed = (text: string): void => {
    const isReturn = text.endsWith("\r");
    const whole = held + (isReturn ? text.slice(0, -1) : text);
    held = isReturn ? "\r" : "";
    parser.feed(whole.includes("\r") ? whole.replace(/\r\n?/g, "\n") : whole);
  };
  for await (const chunk of chunks) {
    feed(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).toString("utf8"));
    if (events.length === 0) continue;
    yield events;
    events = [];
  }
  feed("\n\n");
  if (events.length > 0) yield events;
}
