import { describe, expect, it } from "vitest";
import type { StoredValue } from "#events/runParts.ts";
import { chooseOmitted } from "./stepShape.ts";

const blob = (bytes: number): StoredValue => ({ blob: "b", bytes });
const inline: StoredValue = { json: "1" };

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
