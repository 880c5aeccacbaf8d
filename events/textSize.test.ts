import { expect, test } from "vitest";
import { estimateTextBytes } from "./textSize.ts";

test.each([
  ["a compressed file with much text", { size_bytes: 60_000, chunk_count: 40_000 }, 48_000_000],
  ["a large file with little text", { size_bytes: 60_000_000, chunk_count: 1 }, 60_000_000],
  ["a file that has not been read", { size_bytes: 1, chunk_count: null }, 1],
])("the text of %s counts for the larger of both", (_, row, bytes) => expect(estimateTextBytes(row)).toBe(bytes));
