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

test("a body of untold length counts what has arrived of it, and is told to come back when that is too much", () => {
  const budget = createBudget(3 * 1_048_576);
  const chunked = body({ "transfer-encoding": "chunked" });
  budget.hold(chunked);
  budget.arrived(chunked, 1_000_000);
  expect(budget.held()).toBe(1_048_576);
  budget.arrived(chunked, 1_000_000);
  expect(budget.held()).toBe(2_000_000);
  const sent = sized(1_000_000);
  budget.hold(sent);
  budget.arrived(sent, 1_000_000);
  expect(budget.held()).toBe(3_000_000);
  expect(() => budget.arrived(chunked, 1_000_000)).toThrow(Unavailable);
  budget.letGo(sent);
  budget.arrived(chunked, 9_000_000);
  budget.letGo(chunked);
  expect(budget.held()).toBe(0);
});
