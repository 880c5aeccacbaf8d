import { expect, test } from "vitest";
import { createRunMemory } from "./runMemory.ts";

const open = () => createRunMemory({ total: 20, perTenant: 10 });

test("the runs of an organization grow together up to its share", () => {
  const memory = open();
  const [a, b] = [memory.open("one"), memory.open("one")];
  expect([a.mayGrow(5), b.mayGrow(5)]).toEqual([true, true]);
  expect(b.mayGrow(6)).toBe(false);
});

test("beyond it, the oldest goes on, then the next", () => {
  const memory = open();
  const [a, b, c] = [memory.open("one"), memory.open("one"), memory.open("one")];
  expect([a.mayGrow(4), b.mayGrow(4), c.mayGrow(4)]).toEqual([true, true, false]);
  expect([a.mayGrow(9), b.mayGrow(4)]).toEqual([true, false]);
  a.close();
  expect([b.mayGrow(8), c.mayGrow(4)]).toEqual([true, false]);
  b.close();
  expect(c.mayGrow(4)).toBe(true);
});

test("another organization has a share of its own, and its oldest run goes on when all memory is used up", () => {
  const memory = open();
  const [a, b] = [memory.open("one"), memory.open("two")];
  expect(a.mayGrow(19)).toBe(true);
  expect(b.mayGrow(9)).toBe(true);
  const c = memory.open("two");
  expect(c.mayGrow(1)).toBe(false);
  a.close();
  expect(c.mayGrow(1)).toBe(true);
});
