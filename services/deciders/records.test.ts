import { expect, test } from "vitest";
import { createFold, put, without } from "./records.ts";

test("a change copies its record, unless its own fold has copied it already", () => {
  const record: Record<string, number> = { a: 1, b: 2 };
  expect([put(record, "c", 3), without(record, "a"), record]).toEqual([{ a: 1, b: 2, c: 3 }, { b: 2 }, { a: 1, b: 2 }]);
  const [fold, other] = [createFold(), createFold()];
  const first = fold(() => put(record, "c", 3));
  const second = fold(() => without(put(first, "d", 4), "a"));
  expect([second === first, record]).toEqual([true, { a: 1, b: 2 }]);
  const third = other(() => put(second, "e", 5));
  expect([second, third]).toEqual([
    { b: 2, c: 3, d: 4 },
    { b: 2, c: 3, d: 4, e: 5 },
  ]);
});

test("a fold inside another one has copies of its own, also after an error", () => {
  const [outer, inner] = [createFold(), createFold()];
  const record = outer(() => put<number>({}, "a", 1));
  const copied = outer(() => {
    const of = inner(() => put(record, "b", 2));
    expect(() =>
      inner(() => {
        throw new Error("no");
      }),
    ).toThrow("no");
    return [of, put(record, "c", 3)];
  });
  expect(copied).toEqual([
    { a: 1, b: 2 },
    { a: 1, c: 3 },
  ]);
  expect(copied[1]).toBe(record);
});
