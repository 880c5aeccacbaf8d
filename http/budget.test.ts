import type { FastifyRequest } from "fastify";
import { expect, test } from "vitest";
import { Unavailable } from "#events/ports.ts";
import { createBudget } from "./budget.ts";

const body = (headers: Record<string, string>) => ({ headers }) as unknown as FastifyRequest;
const sized = (length: number) => body({ "content-length": String(length) });

test("bodies have room up to the limit, and again once others are let go", () => {
  const budget = createBudget(100);
  const first = sized(60);
  budget.hold(first);
  budget.hold(sized(40));
  expect(() => budget.hold(sized(1))).toThrow(Unavailable);
  budget.letGo(first);
  budget.letGo(first);
  expect(budget.held()).toBe(40);
  budget.hold(sized(1));
});

test("one body alone is never told to wait, whatever its size", () => {
  const budget = createBudget(100);
  budget.hold(sized(101));
  expect(() => budget.hold(sized(1))).toThrow(Unavailable);
});

test("a body of untold length counts as one mebibyte, none as nothing", () => {
  const budget = createBudget();
  budget.hold(body({}));
  expect(budget.held()).toBe(0);
  budget.hold(body({ "transfer-encoding": "chunked" }));
  expect(budget.held()).toBe(1_048_576);
});
