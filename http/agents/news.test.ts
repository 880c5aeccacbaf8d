import { describe, expect, test } from "vitest";
import type { Speaking } from "#events/ports.ts";
import { createNews } from "./news.ts";

const text = (words: string): Speaking => ({ type: "text", text: words });
const calls = (...ids: string[]): Speaking => ({
  type: "calls",
  calls: ids.map((id) => ({ id, name: "look", arguments: "{}" })),
});
const called = (call: number): Speaking => ({ type: "called", call, status: "completed" });

/** What is new in the frames of some attempts, one after the other. */
function news(...attempts: Speaking[][]): (Speaking | undefined)[] {
  const tell = createNews();
  return attempts.flatMap((frames, n) => frames.flatMap((frame) => tell(frame, n + 1) ?? [undefined]));
}

const FIRST = [text("One "), text("two"), calls("a", "b"), called(1)];

describe("a first attempt", () => {
  test("is new, piece by piece", () => {
    const frames = [
      { type: "reasoning" as const, text: "Hm." },
      ...FIRST,
      called(0),
      text("\n\nthree"),
      calls("c"),
      called(0),
    ];
    expect(news(frames)).toEqual(frames);
  });
});

describe("an attempt after it", () => {
  test("that tells the same pieces brings only what follows", () => {
    expect(news(FIRST, [...FIRST, called(0), text("\n\nthree")])).toEqual([...FIRST, called(0), text("\n\nthree")]);
  });

  test("that tells it in other pieces brings the same", () => {
    const other = [text("One two"), calls("a", "b"), called(0), called(1), text("\n\nthree")];
    expect(news(FIRST, other)).toEqual([...FIRST, called(0), text("\n\nthree")]);
    expect(news([text("One two")], [text("One "), text("two thr"), text("ee")])).toEqual([
      text("One two"),
      text(" thr"),
      text("ee"),
    ]);
  });

  test("that names sources again brings those that are new", () => {
    const source = (url: string) => ({ url, title: url, start_index: 0, end_index: 1 });
    const cites = (...urls: string[]): Speaking => ({ type: "citations", citations: urls.map(source) });
    expect(news([cites("a")], [cites("a", "b")])).toEqual([cites("a"), cites("b")]);
  });

  test.each([
    ["other words", [text("Two")]],
    ["more words before its calls", [text("One two three")]],
    ["fewer words before its calls", [text("One "), calls("a", "b")]],
    ["other calls", [text("One two"), calls("c")]],
    ["thoughts instead of words", [{ type: "reasoning" as const, text: "One" }]],
  ])("that says %s is told from it", (_, second) => {
    expect(news(FIRST, second)).toContain(undefined);
  });
});
