import { expect, test } from "vitest";
import type { TracedCall, TracedRound } from "../../api/trace.ts";
import type { Source } from "../../api/types.ts";
import { findOrigin } from "./findOrigin.ts";

const source = (page: number, seq?: number): Source => ({
  url: `https://x.example/a#page=${page}`,
  title: `p. ${page}`,
  seq,
});
const call = (name: string, sources: Source[]) => ({ name, sources }) as TracedCall;
const rounds = [
  { round: 1, calls: [call("look", []), call("search", [source(2, 3), source(3, 5)])] },
  { round: 2, calls: [call("read", [source(3, 6), source(3, 5)])] },
] as TracedRound[];

test("the origin of a source is the first call that returned its passage", () => {
  expect(findOrigin({ rounds }, source(3, 5))).toEqual({ line: "call-1-1", tool: "search", place: 2, results: 2 });
  expect(findOrigin({ rounds }, source(3, 6))).toEqual({ line: "call-2-0", tool: "read", place: 1, results: 2 });
});

test("a source without a passage is matched by its address, and a source that no call returned has no origin", () => {
  expect(findOrigin({ rounds }, source(2))?.line).toBe("call-1-1");
  expect(findOrigin({ rounds }, source(4))).toBeUndefined();
});
