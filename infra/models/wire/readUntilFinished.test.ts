import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { ModelEvent } from "#services/turns/model.ts";
import { readUntilFinished } from "./readUntilFinished.ts";

/** Pieces that are all available at once, as in one network packet. */
async function* endless(): AsyncGenerator<object[]> {
  for (;;) yield Array<object>(1_000).fill({});
}

const { signal } = new AbortController();
const isFinished = () => false;
const words = (text: string): ModelEvent => ({ type: "text", text });

test("an answer of pieces without content is cut off, and does not block other work", async () => {
  let otherWork = 0;
  const next = () => void (otherWork += 1);
  const toEvents = (): ModelEvent[] => {
    if (otherWork % 2 === 0) {
      otherWork += 1;
      setImmediate(next);
    }
    return [];
  };
  const events = readUntilFinished({ send: async () => endless(), toEvents, isFinished }, signal);
  await expect(events.next()).rejects.toMatchObject({ kind: "cut", message: "The provider's answer never ends." });
  expect(otherWork).toBeGreaterThan(4);
});

describe("pieces that arrived together", () => {
  async function* lists(): AsyncGenerator<ModelEvent[]> {
    const citations: ModelEvent = { type: "citations", citations: [] };
    const thoughts = ["Hm", ", well", "."].map((text): ModelEvent => ({ type: "reasoning", text }));
    yield [...thoughts, words("a"), words("b"), citations];
    yield [words("c"), words("d")];
  }
  const read = (toEvents: (piece: ModelEvent) => ModelEvent[]) => {
    const events: ModelEvent[] = [];
    const reading = (async () => {
      const answer = readUntilFinished({ send: async () => lists(), toEvents, isFinished }, signal);
      for await (const event of answer) events.push(event);
    })();
    return { events, reading };
  };

  test("are one event of words after the first, beside those of other kinds", async () => {
    const { events, reading } = read((piece) => [piece]);
    await reading;
    expect(events).toEqual([
      { type: "reasoning", text: "Hm" },
      { type: "reasoning", text: ", well." },
      words("ab"),
      { type: "citations", citations: [] },
      words("cd"),
    ]);
  });

  test("come before the failure of a later piece", async () => {
    const { events, reading } = read((piece) => {
      if (piece.type === "citations") throw new Error("too long");
      return [piece];
    });
    await expect(reading).rejects.toThrow("too long");
    expect(events.at(-1)).toEqual(words("ab"));
  });
});

describe("answers that are read at the same time", () => {
  beforeEach(async () => {
    // lets the previous test's round of the event loop end
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
    const toEvents = () => {
      pieces += 1;
      vi.advanceTimersByTime(1);
      return [];
    };
    const read = () => Array.fromAsync(readUntilFinished({ send: async () => finite(), toEvents, isFinished }, signal));
    await Promise.all(Array.from({ length: streams }, read));
    isOver = true;
    // one more round is in progress when the last piece is read
    expect(perRound.reduce((sum, n) => sum + n, pieces)).toBe(50 * streams);
    expect(Math.max(...perRound)).toBeLessThanOrEqual(5 + streams);
    expect(perRound.length).toBeGreaterThanOrEqual((50 * streams) / (5 + streams) - 1);
  });
});
