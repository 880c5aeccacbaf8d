import type { ReactNode } from "react";
import { CHUNK, Chunk, chunksOf } from "./Chunk.tsx";

interface Props<T> {
  items: readonly T[];
  /** Pixels of a row. */
  height: number;
  /** One row: a list item. */
  children(item: T): ReactNode;
}

/** A list of any length: only the rows near the window are in the page. */
export const LongList = <T,>({ items, height, children }: Props<T>) =>
  chunksOf(items).map((chunk, n) => (
    <Chunk key={n * CHUNK} as="ol" n={n} height={chunk.length * height} rows={() => chunk.map(children)} />
  ));
