import type { ReactNode } from "react";
import { Chunk, chunksOf } from "./Chunk.tsx";

interface Props<T> {
  items: readonly T[];
  /** Pixels of a row. */
  height: number;
  /** One row: a list item. */
  children(item: T): ReactNode;
}

/** Rows that appear together: as many as take less than a frame or two, so that scrolling is smooth. */
const SIZE = 25;

/** A list of any length: only the rows near the window are in the page. */
export const LongList = <T,>({ items, height, children }: Props<T>) =>
  chunksOf(items, SIZE).map((chunk, n) => (
    <Chunk key={n * SIZE} as="ol" before={n * SIZE} height={chunk.length * height} rows={() => chunk.map(children)} />
  ));
