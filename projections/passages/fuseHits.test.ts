import { describe, expect, test } from "vitest";
import { fuseHits, type NearHit } from "./fuseHits.ts";
import type { Hit } from "./groupHits.ts";

const hit = (document_id: string, score: number): Hit => ({
  passage: { document_id, generation: 1, seq: 0, title: "", page: null, section: null, lead: "", text: "" },
  document: { id: document_id } as Hit["document"],
  score,
});
const near = (document_id: string, nearness: number): NearHit => ({ ...hit(document_id, 0), nearness });
const order = (words: Hit[], nearest: NearHit[]) =>
  fuseHits(words, nearest, 10).map(({ passage }) => passage.document_id);
const crowd = (nearness: number) => Array.from({ length: 12 }, (_, n) => near(`crowd${n}`, nearness - n / 1_000));

describe("fusing hits of words with the nearest passages", () => {
  test("vectors that are all alike do not change the order by words, and come after it", () => {
    expect(order([hit("a", 5), hit("b", 4)], [near("b", 0.81), ...crowd(0.8)]).slice(0, 3)).toEqual([
      "a",
      "b",
      "crowd0",
    ]);
  });

  test("a passage that stands out moves up, also one without a word of the query", () => {
    expect(order([hit("a", 5), hit("b", 4)], [near("b", 0.7), ...crowd(0.3)])[0]).toBe("b");
    expect(order([hit("a", 2), hit("b", 1)], [near("c", 0.9), ...crowd(0.2)])[0]).toBe("c");
  });

  test("if words match nothing, the nearest passages come first in their order", () => {
    expect(order([], [near("x", 0.5), near("y", 0.49)])).toEqual(["x", "y"]);
    expect(order([hit("weak", 0.1)], [near("x", 0.5), near("y", 0.49), near("z", 0.3)])[0]).toBe("x");
  });

  test("every hit is once in the result, and scores fall", () => {
    const fused = fuseHits([hit("a", 5), hit("b", 4)], [near("b", 0.9), near("a", 0.2)], 10);
    const scores = fused.map(({ score }) => score);
    expect(fused).toHaveLength(2);
    expect(scores).toEqual(scores.toSorted((a, b) => b - a));
    expect(fuseHits([hit("a", 0)], [near("a", 0)], 0)[0]!.score).toBeGreaterThanOrEqual(0);
  });
});
