import { isUtf8 } from "node:buffer";
import type { Answered } from "../send.ts";

/** The body of an answer was no text, or had no end. */
export class BrokenBody extends Error {
  override name = "BrokenBody";
}

/** Largest line of a stream, and largest answer that is not streamed, in bytes: an 8 MiB text with every character escaped. */
export const MAX_PIECE = 48 * 1024 * 1024;
const NEWLINE = 0x0a;

/** How many bytes at the end belong to a character that is not there yet. */
function openBytes(chunk: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, chunk.length); back += 1) {
    const byte = chunk[chunk.length - back]!;
    if (byte < 0x80) return 0;
    if (byte >= 0xc0) return back < (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) ? back : 0;
  }
  return 0;
}

const NOTHING: Uint8Array = new Uint8Array(0);

/** Bytes go through unless they are no UTF-8 or one piece of them grows without end: the SDK would read on and guess. */
function createCheck(lines: boolean) {
  let carried = NOTHING;
  let piece = 0;
  return {
    pass(chunk: Uint8Array): Uint8Array {
      const bytes = carried.length === 0 ? chunk : Buffer.concat([carried, chunk]);
      const whole = bytes.subarray(0, bytes.length - openBytes(bytes));
      if (!isUtf8(whole)) throw new BrokenBody("invalid UTF-8");
      carried = bytes.subarray(whole.length);
      const newline = lines ? chunk.lastIndexOf(NEWLINE) : -1;
      piece = newline === -1 ? piece + chunk.length : chunk.length - newline - 1;
      if (piece > MAX_PIECE) throw new BrokenBody("too large");
      return whole;
    },
    end(): void {
      if (carried.length > 0) throw new BrokenBody("invalid UTF-8");
    },
  };
}

/** What may follow the end mark of a stream: the end of the transfer, seldom more. */
const REST = { bytes: 16 * 1024, ms: 1_000 };

/** Reads the little that is left, so that the connection can carry the next request; whatever takes longer is ended. */
async function finish({ chunks, cancel }: Answered): Promise<void> {
  const timer = setTimeout(cancel, REST.ms);
  try {
    for (let left = REST.bytes; left > 0; ) {
      const read = await chunks.next();
      if (read.done) return;
      left -= read.value.length;
    }
    cancel();
  } catch {
    cancel();
  } finally {
    clearTimeout(timer);
  }
}

/** The checked bytes of an answer; its connection is looked after when the reader stops early. */
export function checkedChunks(answered: Answered): AsyncIterableIterator<Uint8Array> {
  const check = createCheck(answered.headers.get("content-type")?.startsWith("text/event-stream") ?? false);
  let finishing = false;
  const chunks: AsyncIterableIterator<Uint8Array> = {
    async next() {
      const read = await answered.chunks.next();
      if (!read.done) return { done: false, value: check.pass(read.value) };
      check.end();
      return read;
    },
    async return() {
      if (!finishing) void finish(answered);
      finishing = true;
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]: () => chunks,
  };
  return chunks;
}
