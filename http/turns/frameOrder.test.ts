import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Frame } from "#events/ports.ts";
import { createFrameOrder } from "./frameOrder.ts";

const text = (attempt: number, n: number): Frame => ({ attempt, n, type: "text", text: `${attempt}.${n}` });
const end = (attempt: number, n: number): Frame => ({
  attempt,
  n,
  type: "end",
  position: 1,
  end: { status: "refused", code: null, message: "" },
});

describe("frames of a turn", () => {
  test("are passed on once and in order, in whatever order and however often they arrive", () => {
    const frames = [0, 1, 2, 3, 4, 5].map((n) => text(1, n));
    fc.assert(
      fc.property(fc.shuffledSubarray([...frames, ...frames], { minLength: 12 }), (arrived) => {
        const order = createFrameOrder();
        expect(arrived.flatMap((frame) => order.accept(frame))).toEqual(frames);
        expect(order.hasGap()).toBe(false);
      }),
    );
  });

  test("of an older attempt are dropped, and a newer attempt starts at 0", () => {
    const order = createFrameOrder();
    const out = [text(1, 0), text(1, 1), text(2, 0), text(1, 2), text(2, 1)].flatMap((frame) => order.accept(frame));
    expect(out).toEqual([text(1, 0), text(1, 1), text(2, 0), text(2, 1)]);
  });

  test("behind a gap are held, and the held end frame can be found", () => {
    const order = createFrameOrder();
    expect(order.accept(end(1, 3))).toEqual([]);
    expect(order.hasGap()).toBe(true);
    expect(order.heldEnd()).toEqual(end(1, 3));
  });
});
