import { describe, expect, test } from "vitest";
import type { FramePayload } from "#events/ports.ts";
import { createDeduplicator } from "./deduplicateFrames.ts";

const text = (words: string): FramePayload => ({ type: "text", text: words });
const calls = (...ids: string[]): FramePayload => ({
  type: "calls",
  calls: ids.map((id) => ({ id, name: "look", arguments: "{}" })),
});
const called = (call: number): FramePayload => ({ type: "called", call, status: "completed" });

/** The new frames of consecutive attempts; undefined for a contradiction. */
function newFrames(...attempts: FramePayload[][]): (FramePayload | undefined)[] {
  const deduplicate = createDeduplicator();
  return attempts.flatMap((frames, n) => frames.flatMap((frame) => deduplicate(frame, n + 1) ?? [undefined]));
}

const FIRST = [text("One "), text("two"), calls("a", "b"), called(1)];

describe("the first attempt of a turn", () => {
  test("is new frame by frame", () => {
    const frames = [
      { type: "reasoning" as const, text: "Hm." },
      ...FIRST,
      called(0),
      text("\n\nthree"),
      calls("c"),
      called(0),
    ];
    expect(newFrames(frames)).toEqual(frames);
  });
});

describe("a later attempt of a turn", () => {
  test("that repeats the same frames adds only what follows", () => {
    expect(newFrames(FIRST, [...FIRST, called(0), text("\n\nthree")])).toEqual([
      ...FIRST,
      called(0),
      text("\n\nthree"),
    ]);
  });

  test("that repeats them in other pieces adds the same", () => {
    const other = [text("One two"), calls("a", "b"), called(0), called(1), text("\n\nthree")];
    expect(newFrames(FIRST, other)).toEqual([...FIRST, called(0), text("\n\nthree")]);
    expect(newFrames([text("One two")], [text("One "), text("two thr"), text("ee")])).toEqual([
      text("One two"),
      text(" thr"),
      text("ee"),
    ]);
  });

  test("that repeats citations adds the new ones", () => {
    const source = (url: string) => ({ url, title: url, start_index: 0, end_index: 1 });
    const cites = (...urls: string[]): FramePayload => ({ type: "citations", citations: urls.map(source) });
    expect(newFrames([cites("a")], [cites("a", "b")])).toEqual([cites("a"), cites("b")]);
  });

  test.each([
    ["another text", [text("Two")]],
    ["more text before its calls", [text("One two three")]],
    ["less text before its calls", [text("One "), calls("a", "b")]],
    ["other calls", [text("One two"), calls("c")]],
    ["reasoning instead of text", [{ type: "reasoning" as const, text: "One" }]],
  ])("with %s is recognized as contradicting", (_, second) => {
    expect(newFrames(FIRST, second)).toContain(undefined);
  });
});
