import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { FramePayload } from "#events/ports.ts";
import { mergeTextFrames } from "./mergeTextFrames.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const text = (words: string): FramePayload => ({ type: "text", text: words });
const reasoning = (words: string): FramePayload => ({ type: "reasoning", text: words });

function gather(turns = 1) {
  const frames: FramePayload[] = [];
  return {
    frames,
    ...mergeTextFrames(
      (frame) => frames.push(frame),
      () => turns,
    ),
  };
}

test("the first words leave at once, and those that follow soon share a frame", () => {
  const { frames, emit } = gather();
  emit(text("A"));
  expect(frames).toEqual([text("A")]);
  for (const word of ["B", "C", "D"]) emit(text(word));
  expect(frames).toEqual([text("A")]);
  vi.advanceTimersByTime(5);
  expect(frames).toEqual([text("A"), text("BCD")]);
  vi.advanceTimersByTime(20);
  emit(text("E"));
  expect(frames).toEqual([text("A"), text("BCD"), text("E")]);
});

test("other frames pass at once, after the words before them", () => {
  const { frames, emit } = gather();
  const calls: FramePayload = { type: "calls", calls: [] };
  for (const frame of [reasoning("a"), reasoning("b"), reasoning("c"), text("A"), text("B"), calls]) emit(frame);
  expect(frames).toEqual([reasoning("a"), reasoning("bc"), text("AB"), calls]);
  vi.advanceTimersByTime(20);
  expect(frames).toHaveLength(4);
});

test("words that wait leave when they are many, and on request, once", () => {
  const { frames, emit, flush } = gather();
  emit(text("A"));
  emit(text("x".repeat(20_000)));
  expect(frames).toHaveLength(2);
  emit(text("B"));
  flush();
  flush();
  vi.advanceTimersByTime(20);
  expect(frames.slice(2)).toEqual([text("B")]);
});

test.each([
  ["20 ms beside 67 turns", 67, 20],
  ["40 ms beside 130 turns", 130, 39],
  ["40 ms at most beside thousands of turns", 5_000, 40],
])("words wait for others %s", (_title, turns, ms) => {
  const { frames, emit } = gather(turns);
  emit(text("A"));
  emit(text("B"));
  vi.advanceTimersByTime(ms - 1);
  emit(text("C"));
  expect(frames).toEqual([text("A")]);
  vi.advanceTimersByTime(2);
  expect(frames).toEqual([text("A"), text("BC")]);
});
