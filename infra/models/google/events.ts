import { BrokenBody, MAX_PIECE } from "../wire/body.ts";

const ENDS = ["\n\n", "\r\n\r\n", "\r\r"];
/** Bytes of an end that may be in the pieces before. */
const OVERLAP = 3;

/** Where the last event ends in some bytes; 0 where none does. */
const lastEnd = (bytes: Buffer): number =>
  Math.max(
    ...ENDS.map((end) => {
      const at = bytes.lastIndexOf(end);
      return at === -1 ? 0 : at + end.length;
    }),
  );

/**
 * The bytes of a stream in pieces that end where an event does. The SDK searches all that it holds whenever more comes: an event of
 * 8 MB in pieces of 16 KB would keep the process busy for seconds.
 */
export async function* wholeEvents(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let held: Uint8Array[] = [];
  let size = 0;
  let before: Uint8Array = new Uint8Array();
  for await (const chunk of chunks) {
    const seen = Buffer.concat([before, chunk]);
    const end = lastEnd(seen) - before.length;
    size += chunk.length;
    if (size > MAX_PIECE) throw new BrokenBody("too large");
    if (end <= 0) {
      held.push(chunk);
      before = seen.subarray(-OVERLAP);
      continue;
    }
    yield Buffer.concat([...held, chunk.subarray(0, end)]);
    held = [chunk.subarray(end)];
    before = held[0]!.subarray(-OVERLAP);
    size = held[0]!.length;
  }
  if (size > 0) yield Buffer.concat(held);
}
