/** The stream ended too early. */
export class UnexpectedEnd extends Error {
  override name = "UnexpectedEnd";
}

/** Reads a stream by lengths and by chunks. */
export function createByteSource(stream: AsyncIterable<Buffer>) {
  const chunks = stream[Symbol.asyncIterator]();
  let left: Buffer = Buffer.alloc(0);
  let taken = 0;

  /** Returns the bytes that are available, at most `max`. Throws UnexpectedEnd at the end. */
  async function some(max = Infinity): Promise<Buffer> {
    while (left.length === 0) {
      const { value, done } = await chunks.next();
      if (done) throw new UnexpectedEnd("the stream ended");
      left = value;
    }
    const part = left.subarray(0, max);
    left = left.subarray(part.length);
    taken += part.length;
    return part;
  }

  return {
    some,
    /** Returns exactly `length` bytes; for headers. */
    async exactly(length: number): Promise<Buffer> {
      const parts: Buffer[] = [];
      for (let missing = length; missing > 0; missing -= parts.at(-1)!.length) parts.push(await some(missing));
      return Buffer.concat(parts);
    },
    async skip(length: number): Promise<void> {
      for (let missing = length; missing > 0; ) missing -= (await some(missing)).length;
    },
    /** Puts back bytes that `some` returned last. */
    putBack(bytes: Buffer): void {
      left = left.length === 0 ? bytes : Buffer.concat([bytes, left]);
      taken -= bytes.length;
    },
    /** Number of bytes read so far. */
    taken: () => taken,
  };
}
export type ByteSource = ReturnType<typeof createByteSource>;
