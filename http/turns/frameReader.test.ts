import { setImmediate } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import type { Frame, Frames } from "#events/ports.ts";
import { openFrameReader } from "./frameReader.ts";

const text = (n: number, attempt = 1): Frame => ({ attempt, n, type: "text", text: String(n) });

/** A `Frames` port in memory, for one turn. */
function memoryBus(retained: Frame[] = []) {
  let listener: ((frame: Frame) => void) | undefined;
  const port: Frames = {
    publish: () => {},
    sendToWaiter: () => {},
    subscribe: (_organization, _turn, listen) => {
      listener = listen;
      return () => (listener = undefined);
    },
    loadFrames: async () => retained,
    requestStop: () => {},
    onStop: () => () => {},
  };
  return { port, deliver: (frame: Frame) => listener?.(frame), hasListener: () => listener !== undefined };
}

describe("the frame reader of a turn", () => {
  test("returns each frame, and undefined after a timeout", async () => {
    const bus = memoryBus();
    const reader = openFrameReader(bus.port, "o", "t");
    bus.deliver(text(0));
    expect(await reader.next(1_000)).toEqual(text(0));
    expect(await reader.next(1)).toBeUndefined();
    setTimeout(() => bus.deliver(text(1)), 5);
    expect(await reader.next(5_000)).toEqual(text(1));
  });

  test("fills a gap from the retained frames", async () => {
    const bus = memoryBus([text(0), text(1), text(2)]);
    const reader = openFrameReader(bus.port, "o", "t");
    bus.deliver(text(2));
    expect([await reader.next(1_000), await reader.next(1_000), await reader.next(1_000)]).toEqual([
      text(0),
      text(1),
      text(2),
    ]);
  });

  test("loads missing frames again while they are not retained yet", async () => {
    const retained: Frame[] = [];
    const bus = memoryBus(retained);
    const reader = openFrameReader(bus.port, "o", "t");
    bus.deliver(text(1));
    setTimeout(() => retained.push(text(0), text(1)), 50);
    expect(await reader.next(5_000)).toEqual(text(0));
  });

  test("catches up with the frames of the newest attempt alone", async () => {
    const lost = [text(0), text(1)];
    const reader = openFrameReader(memoryBus([...lost, text(0, 2), text(1, 2)]).port, "o", "t");
    await reader.catchUp();
    expect([await reader.next(1_000), await reader.next(1_000), await reader.next(1)]).toEqual([
      text(0, 2),
      text(1, 2),
      undefined,
    ]);
  });

  test("passes on more frames than a call takes arguments", async () => {
    const all = Array.from({ length: 150_000 }, (_, n) => text(n));
    const bus = memoryBus(all.slice(1));
    const reader = openFrameReader(bus.port, "o", "t");
    await reader.catchUp();
    bus.deliver(all[0]!);
    expect(await reader.next(1_000)).toEqual(all[0]);
    expect(await reader.next(1_000)).toEqual(all[1]);
  });

  test("returns a hundred thousand frames fast, and lets other work run in between", async () => {
    const all = Array.from({ length: 100_000 }, (_, n) => text(n));
    const reader = openFrameReader(memoryBus(all).port, "o", "t");
    await reader.catchUp();
    let [rounds, isOver] = [0, false];
    const count = async () => {
      for (; !isOver; rounds++) await setImmediate();
    };
    const counting = count();
    const start = process.threadCpuUsage();
    let read = 0;
    while (read < all.length && (await reader.next(1_000)) === all[read]) read++;
    const { user } = process.threadCpuUsage(start);
    isOver = true;
    await counting;
    expect(read).toBe(all.length);
    expect(rounds).toBeGreaterThan(500);
    expect(user / 1_000).toBeLessThan(2_000);
  });

  test("catches up with frames that were sent before it was opened", async () => {
    const reader = openFrameReader(memoryBus([text(0), text(1)]).port, "o", "t");
    await reader.catchUp();
    expect(await reader.next(1_000)).toEqual(text(0));
    const first = openFrameReader(memoryBus().port, "o", "t");
    expect(await first.catchUp()).toEqual({ attempt: 0, n: -1 });
  });

  test("lets a writer wait for its client while retained frames are returned, and not for live ones", async () => {
    const bus = memoryBus([text(0), text(1)]);
    const reader = openFrameReader(bus.port, "o", "t");
    const waits: AbortSignal[] = [];
    const client = { drainedBefore: async (signal: AbortSignal) => void waits.push(signal) };
    const takeNext = async () => {
      await reader.next(1_000);
      await reader.pace(client);
      return waits.length;
    };
    expect(await reader.catchUp()).toMatchObject({ attempt: 1, n: 1 });
    bus.deliver(text(2));
    expect([await takeNext(), await takeNext(), await takeNext()]).toEqual([1, 2, 3]);
    setTimeout(() => bus.deliver(text(3)), 5);
    expect(await takeNext()).toBe(3);
    expect(waits[0]!.aborted).toBe(false);
    reader.close();
    expect(waits[0]!.aborted).toBe(true);
  });

  test("lets no writer wait while an organization holds 64 MiB of frames, until their readers are closed", async () => {
    const long = Array.from({ length: 5 }, (_, n): Frame => ({ ...text(n), type: "text", text: "x".repeat(2 ** 24) }));
    const open = async (organization: string, retained: Frame[]) => {
      const reader = openFrameReader(memoryBus(retained).port, organization, "t");
      await reader.catchUp();
      return reader;
    };
    const large = await open("large", long);
    const small = [await open("large", [text(0), text(1)]), await open("other", [text(0), text(1)])];
    let waits = 0;
    const pace = () => Promise.all(small.map((reader) => reader.pace({ drainedBefore: async () => void waits++ })));
    await pace();
    expect(waits).toBe(1);
    large.close();
    expect(await large.next(1)).toBeUndefined();
    await pace();
    expect(waits).toBe(3);
  });

  test("releases a waiting reader when it is closed", async () => {
    const bus = memoryBus();
    const reader = openFrameReader(bus.port, "o", "t");
    const waiting = reader.next(60_000);
    reader.close();
    expect(await waiting).toBeUndefined();
    expect(bus.hasListener()).toBe(false);
  });
});
