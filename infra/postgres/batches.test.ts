import { describe, expect, test } from "vitest";
import type { RecordedEvent } from "#events/envelope.ts";
import { Unavailable } from "#events/ports.ts";
import { openBatches } from "./batches.ts";

const event = (position: number, bytes = 10) =>
  ({ position, stream: `s-${position}`, data: "x".repeat(bytes) }) as unknown as RecordedEvent;
const noPool = { query: () => Promise.reject(new Error("unexpected query")) } as never;
const range = (after: number, limit: number, end: number, bytes?: number) =>
  Array.from({ length: Math.max(0, Math.min(limit, end - after)) }, (_, n) => event(after + n + 1, bytes));

describe("reading the log in batches", () => {
  test("limits a batch of large events by bytes, and one of small events by count", async () => {
    const limits: number[] = [];
    const batches = openBatches(noPool, {
      follow: async (after, limit) => {
        limits.push(limit);
        return range(after, Math.min(limit, 20), 1_000, after < 20 ? 256 * 1024 : 10);
      },
    });
    await batches.read(0, 1_000);
    await batches.read(20, 1_000);
    await batches.read(40, 1_000);
    expect(limits).toEqual([1_000, 63, 1_000]);
  });

  test("returns large events in parts, reads them once, and stays below the limit", async () => {
    const reads: number[] = [];
    const batches = openBatches(noPool, {
      follow: async (after, limit) => {
        reads.push(after);
        return range(after, limit, 12, 256 * 1024);
      },
    });
    const parts: number[][] = [];
    for (const [after, limit] of [
      [0, 20],
      [3, 1],
      [4, 20],
      [7, 20],
      [10, 20],
    ] as const) {
      const { events, more } = await batches.read(after, limit);
      parts.push(events.map(({ position }) => position));
      expect(more).toBe(after < 10);
    }
    expect(parts).toEqual([[1, 2, 3], [4], [5, 6, 7], [8, 9, 10], [11, 12]]);
    expect(reads).toEqual([0]);
    expect((await batches.read(2, 20)).events[0]!.position).toBe(3);
  });

  test("uses a prefetched batch, prepares it and does not read it again", async () => {
    const positions: number[] = [];
    const batches = openBatches(noPool, {
      follow: async (after, limit) => {
        positions.push(after);
        return range(after, limit, 100);
      },
    });
    const first = await batches.read(0, 10);
    const prepared: RecordedEvent[] = [];
    batches.prefetch(10, 10, (events) => prepared.push(...events));
    const second = await batches.read(10, 10);
    expect([first.events.length, second.events[0]!.position, positions]).toEqual([10, 11, [0, 10]]);
    expect(prepared).toEqual(second.events);
  });

  test("ends a batch before an event that cannot be read, and reports that event", async () => {
    const row = { position: 6, stream: "s-6", type: "Odd" };
    const batches = openBatches({ query: async () => ({ rows: [row] }) } as never, {
      follow: async (after, limit) => {
        if (after < 6 && after + limit >= 6) throw new Error("does not open");
        return range(after, limit, 100);
      },
    });
    const before = await batches.read(0, 8);
    expect([before.events.length, before.more, before.unreadable]).toEqual([4, true, undefined]);
    const last = await batches.read(5, 8);
    expect(last).toMatchObject({
      events: [],
      more: true,
      unreadable: { event: row, error: { message: "does not open" } },
    });
  });

  test("blames no event while the database is unavailable", async () => {
    const batches = openBatches(noPool, { follow: () => Promise.reject(new Unavailable("down")) });
    await expect(batches.read(0, 8)).rejects.toThrow("down");
  });
});
