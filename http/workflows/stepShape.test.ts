import { describe, expect, it } from "vitest";
import type { StoredValue } from "#events/runParts.ts";
import { chooseOmitted, createLogLimiter } from "./stepShape.ts";

const blob = (bytes: number): StoredValue => ({ blob: "b", bytes });
const inline: StoredValue = { json: "1" };
const longInline: StoredValue = { json: `"${"x".repeat(2_000)}"` };

describe("the values omitted from a run's steps", () => {
  it.each<[string, [args: StoredValue | null, result: StoredValue | null][], string[][]]>([
    ["are none without values", [[null, null]], [[]]],
    [
      "are none when all long values fit",
      [
        [blob(60), inline],
        [null, blob(40)],
      ],
      [[], []],
    ],
    ["are never short values", [[blob(101), inline]], [["args"]]],
    ["are long values of events, too", [[longInline, inline]], [["args"]]],
    ["are those beyond the limit, in order", [[blob(60), blob(50)]], [["result"]]],
    [
      "are all later long values, even those that would fit",
      [
        [blob(101), null],
        [inline, blob(1)],
      ],
      [["args"], ["result"]],
    ],
  ])("%s", (_, values, expected) =>
    expect(
      chooseOmitted(
        values.map(([args, result]) => ({ args, result })),
        100,
      ),
    ).toEqual(expected),
  );
});

it("shows the lines of attempts up to a total limit, and marks where some are missing", () => {
  const show = createLogLimiter(10);
  expect(show(["1234", "5678"])).toEqual({ logs: ["1234", "5678"], logs_truncated: false });
  expect(show(["123", "4"])).toEqual({ logs: [], logs_truncated: true });
  expect(show([])).toEqual({ logs: [], logs_truncated: false });
});
