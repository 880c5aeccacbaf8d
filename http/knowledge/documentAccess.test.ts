import { expect, test } from "vitest";
import { takesReadersAway } from "./documentAccess.ts";

const [ann, bob, ben] = [{ person: "ann" }, { person: "bob" }, { external_user: "ben" }];

test("only a change to fewer of the same readers takes readers away", () => {
  const takes = (readers: (typeof ann | typeof ben)[] | null, change: object) => takesReadersAway({ readers }, change);
  expect(takes(null, { readers: [ann] })).toBe(true);
  expect(takes([ann, bob, ben], { readers: [ben, ann] })).toBe(true);
  expect(takes([ann], { readers: [] })).toBe(true);
  expect(takes([ann, bob], { readers: [ann, bob] })).toBe(false);
  expect(takes([ann, bob], { readers: [ben] })).toBe(false);
  expect(takes([ann, bob], { readers: null })).toBe(false);
  expect(takes([ann, bob], { readers: [ann], name: "other" })).toBe(false);
  expect(takes([ann, bob], { readers: [ann], name: undefined })).toBe(true);
  expect(takes([ann, bob], { tags: [] })).toBe(false);
});
