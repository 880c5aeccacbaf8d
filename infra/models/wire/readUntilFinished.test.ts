import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { readUntilFinished } from "./readUntilFinished.ts";

/** Pieces that are all there already, as in one packet of the network. */
async function* endless(): AsyncGenerator<object[]> {
  for (;;) yield Array<object>(1_000).fill({});
}

test("an answer of pieces without content is cut, and other work runs meanwhile", async () => {
  let otherWork = 0;
  const next = () => void (otherWork += 1);
  const read = async () => {
    for await (const _ of readUntilFinished(
      async () => endless(),
      () => false,
      new AbortController().signal,
    ))
      if (otherWork % 2 === 0) {
        otherWork += 1;
        setImmediate(next);
      }
  };
  await expect(read()).rejects.toMatchObject({ kind: "cut", message: "The provider's answer never ends." });
  expect(otherWork).toBeGreaterThan(4);
});

describe("answers that are read at the same time", () => {
  beforeEach(async () => {
    // the round of the test before ends
    await new Promise(setImmediate);
    vi.useFakeTimers({ toFake: ["performance"] });
  });
  afterEach(() => void vi.useRealTimers());

  test.each([1, 20])("%i together take 5 ms of each round of the event loop", async (streams) => {
    let pieces = 0;
    let isOver = false;
    const perRound: number[] = [];
    const countRound = () => {
      perRound.push(pieces);
      pieces = 0;
      if (!isOver) setImmediate(countRound);
    };
    setImmediate(countRound);
    async function* finite(): AsyncGenerator<object[]> {
      yield Array<object>(50).fill({});
    }
    const read = async () => {
      const { signal } = new AbortController();
      for await (const _ of readUntilFinished(
        async () => finite(),
        () => false,
        signal,
      )) {
        pieces += 1;
        vi.advanceTimersByTime(1);
      }
    };
    await Promise.all(Array.from({ length: streams }, read));
    isOver = true;
    // one round more is on its way when the last piece is read
    expect(perRound.reduce((sum, n) => sum + n, pieces)).toBe(50 * streams);
    expect(Math.max(...perRound)).toBeLessThanOrEqual(5 + streams);
    expect(perRound.length).toBeGreaterThanOrEqual((50 * streams) / (5 + streams) - 1);
  });
});
