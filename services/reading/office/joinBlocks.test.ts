import type { Element, ElementContent } from "hast";
import { expect, test } from "vitest";
import { element } from "../html/tree.ts";
import { joinBlocks } from "./joinBlocks.ts";

const list = (tagName: string, ...content: (ElementContent | string)[]): Element =>
  element(tagName, [element("li", content)]);

test("a list whose first item contains only a deeper list continues the one before", () => {
  const deeper = list("ul", "gas");
  expect(joinBlocks([list("ol", "rent"), list("ul", "\n", deeper)])).toEqual([
    element("ol", [element("li", ["rent", deeper])]),
  ]);
});

test("a list of another kind is a list of its own, also if its first item has a deeper list after its words", () => {
  const lists = [list("ol", "rent"), list("ul", "heat", list("ul", "gas"))];
  expect(joinBlocks(lists)).toEqual(lists);
});
