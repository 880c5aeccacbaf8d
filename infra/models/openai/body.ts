import { isUtf8 } from "node:buffer";

/** The body of an answer was no text, or had no end. */
export class BrokenBody extends Error {
  override name = "BrokenBody";
}

/** Largest line of a stream, and largest answer that is not streamed, in bytes: an 8 MiB text with every character escaped. */
const MAX_PIECE = 48 * 1024 * 1024;
const NEWLINE = 0x0a;

/** How many bytes at the end belong to a character that is not there yet. */
export function openBytes(chunk: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, chunk.length); back += 1) {
    const byte = chunk[chunk.length - back]!;
    if (byte < 0x80) return 0;
    if (byte >= 0xc0) return back < (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) ? back : 0;
  }
  return 0;
}

/** The same bytes, unless they are no UTF-8 or one piece of them grows without end: the SDK would read on and guess. */
async function* checked(source: AsyncIterable<Uint8Array>, lines: boolean): AsyncGenerator<Uint8Array> {
  let carried: Uint8Array = new Uint8Array(0);
  let piece = 0;
  for await (const chunk of source) {
    const bytes = carried.length === 0 ? chunk : Buffer.concat([carried, chunk]);
    const whole = bytes.subarray(0, bytes.length - openBytes(bytes));
    if (!isUtf8(whole)) throw new BrokenBody("invalid UTF-8");
    carried = bytes.subarray(whole.length);
    const newline = lines ? chunk.lastIndexOf(NEWLINE) : -1;
    piece = newline === -1 ? piece + chunk.length : chunk.length - newline - 1;
    if (piece > MAX_PIECE) throw new BrokenBody("too large");
    yield whole;
  }
  if (carried.length > 0) throw new BrokenBody("invalid UTF-8");
}

const HEADERS = ["authorization", "accept", "content-type", "user-agent"];

/**
 * A fetch for the SDK over another one: sends only the headers that a provider needs (the SDK would add those
 * of OPENAI_CUSTOM_HEADERS to requests for addresses that tenants named) and checks the answer's bytes.
 */
export function checkedFetch(inner: typeof fetch): typeof fetch {
  return async (url, init) => {
    const sent = new Headers(init?.headers);
    const headers = HEADERS.flatMap((name): [string, string][] => {
      const value = sent.get(name);
      return value === null ? [] : [[name, value]];
    });
    const response = await inner(url, { ...init, headers });
    if (!response.body) return response;
    const { status, statusText, headers: answered } = response;
    const lines = answered.get("content-type")?.startsWith("text/event-stream") ?? false;
    return new Response(ReadableStream.from(checked(response.body, lines)), { status, statusText, headers: answered });
  };
}
