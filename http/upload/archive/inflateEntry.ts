import { createInflateRaw } from "node:zlib";
import type { ByteSource } from "./byteSource.ts";

const write = (inflate: ReturnType<typeof createInflateRaw>, bytes: Buffer): Promise<void> =>
  new Promise((resolve, reject) => void inflate.write(bytes, (error) => (error ? reject(error) : resolve())));

/**
 * Inflates bytes from a source until the data ends, or after `packed` bytes. Bytes that were read too far are put back. `take`
 * receives each piece and may throw.
 */
export async function inflateEntry(
  source: ByteSource,
  packed: number | undefined,
  take: (piece: Buffer) => void,
): Promise<void> {
  const inflate = createInflateRaw();
  const unpacked = (async () => {
    for await (const piece of inflate as AsyncIterable<Buffer>) take(piece);
  })();
  // awaited below; without this, a rejection would count as unhandled
  unpacked.catch(() => undefined);
  try {
    let fed = 0;
    for (let rest = packed ?? Infinity; rest > 0; ) {
      const bytes = await source.some(rest);
      fed += bytes.length;
      rest -= bytes.length;
      await Promise.race([write(inflate, bytes), unpacked]);
      const unused = fed - inflate.bytesWritten;
      if (unused === 0) continue;
      // the data has marked its own end
      if (packed === undefined) source.putBack(bytes.subarray(bytes.length - unused));
      else await source.skip(rest);
      return await unpacked;
    }
    inflate.end();
    await unpacked;
  } finally {
    inflate.destroy();
  }
}
