import { Readable } from "node:stream";
import { setImmediate } from "node:timers/promises";

/** UTF-16 units written before the event loop gets its turn: writing so much JSON takes a few milliseconds. */
const SLICE = 512 * 1024;

async function* toLines(values: AsyncIterable<unknown>): AsyncGenerator<string> {
  let written = 0;
  for await (const value of values) {
    const line = `${JSON.stringify(value)}\n`;
    written += line.length;
    yield line;
    if (written < SLICE) continue;
    written = 0;
    await setImmediate();
  }
}

/** Each value as a line of JSON, read as fast as the reader takes them. */
export const jsonLines = (values: AsyncIterable<unknown>): Readable =>
  Readable.from(toLines(values), { objectMode: false });
