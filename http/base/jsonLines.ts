import { Readable } from "node:stream";
import { setImmediate } from "node:timers/promises";

/** Lines are made for so long before the event loop gets its turn. */
const SLICE_MS = 5;

async function* toLines(values: AsyncIterable<unknown>): AsyncGenerator<string> {
  let sliceStart = performance.now();
  for await (const value of values) {
    yield `${JSON.stringify(value)}\n`;
    if (performance.now() - sliceStart < SLICE_MS) continue;
    await setImmediate();
    sliceStart = performance.now();
  }
}

/** Each value as a line of JSON, read as fast as the reader takes them. */
export const jsonLines = (values: AsyncIterable<unknown>): Readable =>
  Readable.from(toLines(values), { objectMode: false });
