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

/**
 * The bytes of a stream, cut where events end. The SDK searches its whole buffer on every chunk: an event of 8 MB in chunks of 16 KB
 * would block the process for seconds.
 */
export async function* wholeEvents(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let pending: Uint8Array[] = [];
  let overlap: Uint8Array = new Uint8Array();
  for await (const chunk of chunks) {
    const searched = Buffer.concat([overlap, chunk]);
    const end = lastEventEnd(searched) - overlap.length;
    if (end <= 0) {
      pending.push(chunk);
      overlap = searched.subarray(-OVERLAP);
      continue;
    }
    yield Buffer.concat([...pending, chunk.subarray(0, end)]);
    const rest = chunk.subarray(end);
    pending = [rest];
    overlap = rest.subarray(-OVERLAP);
  }
  const last = Buffer.concat(pending);
  if (last.length > 0) yield last;
}
