import { expect, test } from "vitest";
import { unlistedPrincipal } from "./unlistedPrincipal.ts";

const id = "0198c0de-0000-7000-8000-0000000000ab";
const labelOf = (who: string, lists: Parameters<typeof unlistedPrincipal>[1]) => unlistedPrincipal(who, lists).label;

test("a person counts as removed only if the complete list of their kind lacks them", () => {
  const [whole, cut] = [{ isWhole: true }, { isWhole: false }];
  expect(labelOf(`person:${id}`, { person: whole })).toMatch(/^former member /);
  expect(labelOf(`person:${id}`, { person: cut, key: whole })).toMatch(/^person /);
  expect(labelOf(`key:${id}`, { person: whole, key: whole })).toMatch(/^deleted key /);
  expect(labelOf(`key:${id}`, { person: whole, key: undefined })).toMatch(/^key /);
  expect(labelOf("system", { person: whole })).toBe("system");
});
