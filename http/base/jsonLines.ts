import { Readable } from "node:stream";
import { isLargeJson, writeInPieces } from "#events/largeJson.ts";
import { createPause } from "#events/slices.ts";

async function* toLines(values: AsyncIterable<unknown>): AsyncGenerator<string> {
  const pause = createPause();
  for await (const value of values) {
    // a turn may have a text of 64 MiB
    if (isLargeJson(value)) {
      yield* writeInPieces(value);
      yield "\n";
    } else yield `${JSON.stringify(value)}\n`;
    await pause();
  }
}

/** Streams each value as a line of JSON, at the reader's pace. */
export const jsonLines = (values: AsyncIterable<unknown>): Readable =>
  Readable.from(toLines(values), { objectMode: false });
