import { Readable } from "node:stream";
import { jsonParts } from "#events/largeJson.ts";
import { beginWork } from "#events/slices.ts";

async function* toLines(values: AsyncIterable<unknown>): AsyncGenerator<string> {
  const pause = beginWork();
  for await (const value of values) {
    let before = "";
    for (const part of jsonParts(value)) {
      if (before !== "") yield before;
      before = part;
      await pause();
    }
    yield `${before}\n`;
  }
}

/** Each value as a line of JSON, read as fast as the reader takes them. */
export const jsonLines = (values: AsyncIterable<unknown>): Readable =>
  Readable.from(toLines(values), { objectMode: false });
