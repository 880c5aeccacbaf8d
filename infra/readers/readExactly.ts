import type { Readable } from "node:stream";

const nextReadable = (stream: Readable): Promise<void> =>
  new Promise((resolve) => {
    const wake = (): void => {
      stream.off("readable", wake).off("close", wake);
      resolve();
    };
    stream.on("readable", wake).on("close", wake);
  });

/** Reads exactly `length` bytes; undefined if the stream ends earlier or sends more. */
export async function readExactly(stream: Readable, length: number): Promise<Buffer | undefined> {
  const bytes = Buffer.allocUnsafe(length);
  for (let filled = 0; filled < length; ) {
    const chunk = stream.read() as Buffer | null;
    if (chunk) {
      if (chunk.length > length - filled) return undefined;
      bytes.set(chunk, filled);
      filled += chunk.length;
    } else if (stream.readableEnded || stream.destroyed) return undefined;
    else await nextReadable(stream);
  }
  return bytes;
}
