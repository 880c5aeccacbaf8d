import { expect, test } from "vitest";
import { namedChoices, includeChosen } from "./Choices.tsx";

const ann = { id: "a", name: "Ann" };

test("a list of choices says that there are more than it shows", () => {
  const choices = [{ value: "a", label: "Ann" }];
  expect(namedChoices({ data: [ann], total: 1, isWhole: true }, "members")).toEqual(choices);
  expect(namedChoices({ data: [ann], total: 2, isWhole: false }, "members")).toEqual([
    ...choices,
    { value: "more members", label: "more members than can be listed", isNote: true },
  ]);
  expect(namedChoices(undefined, "members")).toEqual([]);
});

test("the current value is among the choices before the list is loaded", () => {
  expect(includeChosen([], "b")).toEqual([{ value: "b", label: "b" }]);
  expect(includeChosen([{ value: "b", label: "Bob" }], "b")).toEqual([{ value: "b", label: "Bob" }]);
  expect(includeChosen([], null)).toEqual([]);
});
