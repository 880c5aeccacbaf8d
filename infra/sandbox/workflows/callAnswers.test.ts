import { expect, test } from "vitest";
import { answerMany, answerStep } from "./callAnswers.ts";

const done = (json: string) => ({ value: { json } });
const failed = { value: { error: { message: "declined", code: "step_error" } } };
const outstanding = { value: undefined };
const THROWN = '!{"message":"declined","code":"step_error"}';
const RETURNED = '{"ok":false,"error":{"message":"declined","code":"step_error"}}';

test.each([
  ["has no answer while it is outstanding", outstanding, "fail", undefined],
  ["answers with its result", done("5"), "fail", "5"],
  ["throws its failure", failed, "fail", THROWN],
  ["has no answer while it is outstanding, as a value too", outstanding, "return", undefined],
  ["returns its result as a value", done("5"), "return", '{"ok":true,"value":5}'],
  ["returns its failure as a value", failed, "return", RETURNED],
] as const)("A step %s", (_, call, mode, answer) => {
  expect(answerStep(call, mode)).toBe(answer);
});

test.each([
  ["without items is an empty list", [], "fail", "[]"],
  ["has no answer while one item is outstanding", [done("1"), outstanding, failed], "fail", undefined],
  ["lists the results in the order of its items", [done("2"), done("1")], "fail", "[2,1]"],
  ["throws the first failure", [done("1"), failed], "fail", THROWN],
  ["lists results and failures as values", [done("1"), failed], "return", `[{"ok":true,"value":1},${RETURNED}]`],
] as const)("A runStepMany %s", (_, calls, mode, answer) => {
  expect(answerMany(calls, mode)).toBe(answer);
});
