import { isUtf8 } from "node:buffer";
import type { IncomingResponse } from "../send.ts";

/** The body of an answer is not UTF-8, or one piece of it is too large. */
export class InvalidBody extends Error {
  override name = "InvalidBody";
}

/** Largest line of a stream, and largest unstreamed answer, in bytes: an 8 MiB text with every character escaped. */
export const MAX_PIECE = 48 * 1024 * 1024;
const NEWLINE = 0x0a;

/** How many bytes at the end belong to a character that continues in the next chunk. */
function incompleteBytes(chunk: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, chunk.length); back += 1) {
    const byte = chunk[chunk.length - back]!;
    if (byte < 0x80) return 0;
    if (byte >= 0xc0) return back < (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) ? back : 0;
  }
  return 0;
}

const NO_BYTES: Uint8Array = new Uint8Array(0);

/** Passes bytes through. Throws InvalidBody for invalid UTF-8 and for an endless line, where an SDK would buffer and guess. */
function createBodyCheck(isStream: boolean) {
  let carried = NO_BYTES;
  let pieceSize = 0;
  return {
    pass(chunk: Uint8Array): Uint8Array {
      const bytes = carried.length === 0 ? chunk : Buffer.concat([carried, chunk]);
      const complete = bytes.subarray(0, bytes.length - incompleteBytes(bytes));
      if (!isUtf8(complete)) throw new InvalidBody("invalid UTF-8");
      carried = bytes.subarray(complete.length);
      const newline = isStream ? chunk.lastIndexOf(NEWLINE) : -1;
      pieceSize = newline === -1 ? pieceSize + chunk.length : chunk.length - newline - 1;
      if (pieceSize > MAX_PIECE) throw new InvalidBody("too large");
      return complete;
    },
    end(): void {
      if (carried.length > 0) throw new InvalidBody("invalid UTF-8");
    },
  };
}

/** What may follow the end mark of a stream: the end of the transfer, rarely more. */
const DRAIN_LIMIT = { bytes: 16 * 1024, ms: 1_000 };

/** Reads the rest of a response, so that its connection can be reused; a longer rest is cancelled. */
async function drain({ chunks, cancel }: IncomingResponse): Promise<void> {
  const timer = setTimeout(cancel, DRAIN_LIMIT.ms);
  try {
    for (let left = DRAIN_LIMIT.bytes; left > 0; ) {
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

/** The checked bytes of an answer. When the reader stops early, the connection is drained or cancelled. */
export function checkedChunks(incoming: IncomingResponse): AsyncIterableIterator<Uint8Array> {
  const check = createBodyCheck(incoming.headers.get("content-type")?.startsWith("text/event-stream") ?? false);
  let isDraining = false;
  const chunks: AsyncIterableIterator<Uint8Array> = {
    async next() {
      const read = await incoming.chunks.next();
      if (!read.done) return { done: false, value: check.pass(read.value) };
      check.end();
      return read;
    },
    async return() {
      if (!isDraining) void drain(incoming);
      isDraining = true;
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]: () => chunks,
  };
  return chunks;
}
