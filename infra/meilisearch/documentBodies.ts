import { setImmediate } from "node:timers/promises";

interface Bounds<T> {
  /** What encoding an item takes, in a unit of the caller's. */
  weigh(item: T): number;
  /** Weight that is encoded before the event loop gets its turn. */
  max_weight: number;
  /** A body has several documents only up to this size. */
  max_bytes: number;
}

/** Items as NDJSON, in bodies of limited size. */
export async function* encodeDocuments<T>(
  items: readonly T[],
  toDocument: (item: T) => object,
  { weigh, max_weight, max_bytes }: Bounds<T>,
): AsyncGenerator<Buffer> {
  let [lines, bytes, weight] = [[] as Buffer[], 0, 0];
  for (const item of items) {
    weight += weigh(item);
    if (weight > max_weight) {
      await setImmediate();
      weight = 0;
    }
    const line = Buffer.from(`${JSON.stringify(toDocument(item))}\n`);
    if (bytes > 0 && bytes + line.length > max_bytes) {
      yield Buffer.concat(lines);
      [lines, bytes] = [[], 0];
    }
    lines.push(line);
    bytes += line.length;
  }
  if (bytes > 0) yield Buffer.concat(lines);
}
