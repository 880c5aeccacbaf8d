import type { Readable } from "node:stream";

const more = (stream: Readable): Promise<void> =>
  new Promise((resolve) => {
    const wake = (): void => {
      stream.off("readable", wake).off("close", wake);
      resolve();
    };
    stream.on("readable", wake).on("close", wake);
  });

/** The next bytes of a stream, where exactly so many are to come; undefined where it ends before, or has more. */
export async function arrival(stream: Readable, length: number): Promise<Buffer | undefined> {
  const bytes = Buffer.allocUnsafe(length);
  for (let filled = 0; filled < length; ) {
    const chunk = stream.read() as Buffer | null;
    if (chunk) {
      if (chunk.length > length - filled) return undefined;
      bytes.set(chunk, filled);
      filled += chunk.length;
    } else if (stream.readableEnded || stream.destroyed) return undefined;
    else await more(stream);
  }
  return bytes;
}
