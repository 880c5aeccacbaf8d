import { setImmediate } from "node:timers/promises";

interface Bounds<T> {
  /** The cost of encoding an item, in a unit of the caller's choice. */
  weigh(item: T): number;
  /** Cost that is spent before other work may run. */
  max_weight: number;
  /** A body gets a further document only up to this size. */
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
