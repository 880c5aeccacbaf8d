import { describe, expect, test } from "vitest";
import type { Frame, Frames } from "#events/ports.ts";
import { openFeed } from "./feed.ts";

const text = (n: number, attempt = 1): Frame => ({ attempt, n, type: "text", text: String(n) });

/** A bus of one turn in memory. */
function frames(kept: Frame[] = []) {
  let listener: ((frame: Frame) => void) | undefined;
  const port: Frames = {
    publish: () => {},
    tell: () => {},
    subscribe: (_organization, _turn, hear) => {
      listener = hear;
      return () => (listener = undefined);
    },
    kept: async () => kept,
    stop: () => {},
    onStop: () => () => {},
  };
  return { port, hear: (frame: Frame) => listener?.(frame), listening: () => listener !== undefined };
}

describe("a feed", () => {
  test("gives what is said, and undefined after a silence", async () => {
    const bus = frames();
    const feed = openFeed(bus.port, "o", "t");
    bus.hear(text(0));
    expect(await feed.next(1_000)).toEqual(text(0));
    expect(await feed.next(1)).toBeUndefined();
    setTimeout(() => bus.hear(text(1)), 5);
    expect(await feed.next(5_000)).toEqual(text(1));
  });

  test("fills a gap from what was kept", async () => {
    const bus = frames([text(0), text(1), text(2)]);
    const feed = openFeed(bus.port, "o", "t");
    bus.hear(text(2));
    expect([await feed.next(1_000), await feed.next(1_000), await feed.next(1_000)]).toEqual([
      text(0),
      text(1),
      text(2),
    ]);
  });

  test("looks again for frames that were not in the store yet", async () => {
    const kept: Frame[] = [];
    const bus = frames(kept);
    const feed = openFeed(bus.port, "o", "t");
    bus.hear(text(1));
    setTimeout(() => kept.push(text(0), text(1)), 50);
    expect(await feed.next(5_000)).toEqual(text(0));
  });

  test("catches up with what was said before", async () => {
    const feed = openFeed(frames([text(0), text(1)]).port, "o", "t");
    await feed.catchUp();
    expect(await feed.next(1_000)).toEqual(text(0));
  });

  test("ends a waiting reader when it is closed", async () => {
    const bus = frames();
    const feed = openFeed(bus.port, "o", "t");
    const waiting = feed.next(60_000);
    feed.close();
    expect(await waiting).toBeUndefined();
    expect(bus.listening()).toBe(false);
  });
});
