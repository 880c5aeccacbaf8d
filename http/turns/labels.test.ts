import { expect, test } from "vitest";
import { readLabels } from "./labels.ts";

const read = (header: string | undefined) => readLabels(header === undefined ? {} : { "x-labels": header });

test.each([
  [undefined, undefined],
  ["", undefined],
  [" , ", undefined],
  ["team=search", { team: "search" }],
  ["team=search, release=2026.11/rc-1:a , x=Y", { team: "search", release: "2026.11/rc-1:a", x: "Y" }],
  ["a=b=c", "the value of a must be"],
  ["constructor=x", { constructor: "x" }],
  ["team", "each label must be name=value"],
  ["=x", "each label must be name=value"],
  ["Team=x", "each label must be name=value"],
  ["__proto__=x", "each label must be name=value"],
  [`${"n".repeat(33)}=x`, "each label must be name=value"],
  ["team=", "the value of team must be"],
  ["team=ann@example.org", "the value of team must be"],
  [`team=${"v".repeat(65)}`, "the value of team must be"],
  ["a=1,a=2", "a is there twice."],
  ["a=1,b=1,c=1,d=1,e=1,f=1", "must have at most 5 labels."],
])("the header x-labels is read or refused: %j", (header, expected) => {
  if (typeof expected !== "string") return expect(read(header)).toEqual(expected);
  expect(() => read(header)).toThrow(
    expect.objectContaining({ message: expect.stringContaining(expected), status: 400 }),
  );
});
