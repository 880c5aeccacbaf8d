import { describe, expect, test } from "vitest";
import type { Recorded } from "#events/envelope.ts";
import { Unavailable } from "#events/ports.ts";
import { openBatches } from "./batches.ts";

const event = (position: number, bytes = 10) =>
  ({ position, stream: `s-${position}`, data: "x".repeat(bytes) }) as unknown as Recorded;
const noPool = { query: () => Promise.reject(new Error("not to be asked")) } as never;
const range = (after: number, limit: number, end: number, bytes?: number) =>
  Array.from({ length: Math.max(0, Math.min(limit, end - after)) }, (_, n) => event(after + n + 1, bytes));

describe("reading in batches", () => {
  test("large events come fewer at a time, and small ones as many as asked for", async () => {
    const asked: number[] = [];
    const batches = openBatches(noPool, {
      follow: async (after, limit) => {
        asked.push(limit);
        return range(after, Math.min(limit, 20), 1_000, after < 20 ? 256 * 1024 : 10);
      },
    });
    await batches.read(0, 1_000);
    await batches.read(20, 1_000);
    await batches.read(40, 1_000);
    expect(asked).toEqual([1_000, 63, 1_000]);
  });

  test("what was read ahead is used, and read once", async () => {
    const asked: number[] = [];
    const batches = openBatches(noPool, {
      follow: async (after, limit) => {
        asked.push(after);
        return range(after, limit, 100);
      },
    });
    const first = await batches.read(0, 10);
    batches.prefetch(10, 10);
    const second = await batches.read(10, 10);
    expect([first.events.length, second.events[0]!.position, asked]).toEqual([10, 11, [0, 10]]);
  });

  test("an event that cannot be read ends the batch before it and is named", async () => {
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

  test("trouble with the database blames no event", async () => {
    const batches = openBatches(noPool, { follow: () => Promise.reject(new Unavailable("down")) });
    await expect(batches.read(0, 8)).rejects.toThrow("down");
  });
});
