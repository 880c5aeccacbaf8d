import { expect, test } from "vitest";
import { newId } from "./ids.ts";
import { nameAllowedStarts, slotNames } from "./newRun.ts";

const workflow = { id: newId(), organization_id: newId() };
const keyedHash = (_: string, text: string) => text;
const slots = (customer: unknown) => slotNames(keyedHash, workflow, { max_runs: 2, key: "/customer" }, { customer });
const starts = (customer: unknown) =>
  nameAllowedStarts(keyedHash, workflow, { max_runs: 2, per_seconds: 60, key: "/customer" }, { customer }, 0);

test.each([
  ["slots", slots],
  ["starts", starts],
])("the %s of a key are those of its value, in every order of its properties", (_, names) => {
  const name = names({ id: 7, at: [{ street: "A", number: 1 }] });
  expect(name).toHaveLength(2);
  expect(names({ at: [{ number: 1, street: "A" }], id: 7 })).toEqual(name);
  for (const other of [{ id: 8, at: [{ street: "A", number: 1 }] }, { id: 7 }, [7], "7", null])
    expect(names(other)).not.toEqual(name);
  expect(names(undefined)).toEqual(names(null));
});

test("the names of plain values never change, so that an upgrade frees no slots", () => {
  for (const value of ["a", 'quote " and é', 7, -0, true, null, [1, "b"]])
    expect(slots(value)[1]).toBe(`${JSON.stringify([workflow.organization_id, workflow.id, value])}1`);
  expect(starts("a")[0]).toBe(`${JSON.stringify([workflow.organization_id, workflow.id, "a", 60, 0])}0`);
});

test("a long value is in no name, and differs from other long values", () => {
  const long = { text: "x".repeat(100_000) };
  expect(slots(long)[0]!.length).toBeLessThan(300);
  expect(slots({ ...long })).toEqual(slots(long));
  expect(slots({ text: `${long.text}y` })).not.toEqual(slots(long));
});
