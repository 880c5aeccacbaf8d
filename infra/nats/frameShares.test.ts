import { expect, test } from "vitest";
import { createFrameShares } from "./frameShares.ts";

const MAX = 64_000_000;
const CHUNK = MAX / 64;
const full = (last_seq: number, first_seq = 1) => ({ bytes: MAX, first_seq, last_seq });

test("a chunk of an organization ends after a sixty-fourth of the stream, whatever others publish", () => {
  const shares = createFrameShares(MAX);
  expect(shares.count("a", CHUNK / 2)).toBe(false);
  expect(shares.count("b", CHUNK / 2)).toBe(false);
  expect(shares.count("a", CHUNK / 2)).toBe(true);
  expect(shares.count("a", CHUNK / 2)).toBe(false);
});

test("the largest organization loses its oldest chunk when the stream is nearly full, and keeps two", () => {
  const shares = createFrameShares(MAX);
  for (const seq of [10, 20, 30]) expect(shares.endChunk("large", { ...full(seq), bytes: MAX / 2 })).toBeUndefined();
  expect(shares.endChunk("small", full(40))).toEqual({ organization: "large", seq: 11 });
  expect(shares.endChunk("small", full(50))).toBeUndefined();
  expect(shares.endChunk("small", full(60))).toEqual({ organization: "small", seq: 41 });
});

test("chunks that the server has dropped do not count", () => {
  const shares = createFrameShares(MAX);
  for (const seq of [10, 20, 30]) shares.endChunk("large", { ...full(seq), bytes: 0 });
  expect(shares.endChunk("small", full(40, 21))).toBeUndefined();
});
