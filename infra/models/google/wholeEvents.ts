import { setImmediate } from "node:timers/promises";

const SEPARATORS = ["\n\n", "\r\n\r\n", "\r\r"];
/** Bytes of a separator that may be in the chunks before. */
const OVERLAP = 3;

/** Where the last event ends; 0 if none does. */
const lastEventEnd = (bytes: Buffer): number =>
  Math.max(
    ...SEPARATORS.map((separator) => {
      const at = bytes.lastIndexOf(separator);
      return at === -1 ? 0 : at + separator.length;
    }),
  );

const isLineEnd = (byte: number | undefined): boolean => byte === 0x0a || byte === 0x0d;

/** The events of bytes that end where one does. Empty ones, of line ends alone, are left out. */
function* splitEvents(bytes: Buffer): Generator<Uint8Array> {
  const ends = SEPARATORS.map((separator) => ({ separator, at: -1 }));
  for (let from = 0; ; ) {
    while (isLineEnd(bytes[from])) from++;
    if (from >= bytes.length) return;
    // each separator is searched once: from where it was found last
    for (const end of ends) if (end.at < from) end.at = find(bytes, end.separator, from);
    const first = ends.reduce((a, b) => (b.at < a.at ? b : a));
    const end = first.at + first.separator.length;
    yield bytes.subarray(from, end);
    from = end;
  }
}

function find(bytes: Buffer, separator: string, from: number): number {
  const at = bytes.indexOf(separator, from);
  return at === -1 ? Infinity : at;
}

/** Events that arrived together are read for so long before other work runs. */
const SLICE_MS = 5;

/**
 * The events of a stream, one by one. The SDK searches its whole buffer on every chunk and for every event: an event of 8 MB in chunks
 * of 16 KB would block the process for seconds, and so would a chunk of blank lines.
 */
export async function* wholeEvents(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let pending: Uint8Array[] = [];
  let overlap: Uint8Array = new Uint8Array();
  let sliceStart = performance.now();
  for await (const chunk of chunks) {
    const searched = Buffer.concat([overlap, chunk]);
    const end = lastEventEnd(searched) - overlap.length;
    if (end <= 0) {
      pending.push(chunk);
      overlap = searched.subarray(-OVERLAP);
      continue;
    }
    for (const event of splitEvents(Buffer.concat([...pending, chunk.subarray(0, end)]))) {
      yield event;
      if (performance.now() - sliceStart < SLICE_MS) continue;
      await setImmediate();
      sliceStart = performance.now();
    }
    const rest = chunk.subarray(end);
    pending = [rest];
    overlap = rest.subarray(-OVERLAP);
  }
  const last = Buffer.concat(pending);
  if (last.length > 0) yield last;
}
