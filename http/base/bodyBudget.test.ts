import type { FastifyRequest } from "fastify";
import { describe, expect, test } from "vitest";
import { Unavailable } from "#events/ports.ts";
import { createBodyBudget } from "./bodyBudget.ts";

const bodyOf = (organization_id: string) => ({ caller: { organization_id } }) as unknown as FastifyRequest;

describe("the budget of request bodies", () => {
  test("counts bytes as they arrive and releases them once", () => {
    const budget = createBodyBudget({ total: 100, perOwner: 100 });
    const [first, second] = [bodyOf("a"), bodyOf("b")];
    budget.countArrived(first, 60);
    budget.countArrived(second, 20);
    expect(() => budget.countArrived(second, 1)).toThrow(Unavailable);
    budget.release(first);
    budget.release(first);
    expect(budget.heldBytes()).toBe(20);
    budget.countArrived(second, 80);
    expect(budget.heldBytes()).toBe(100);
  });

  test("leaves room for one more organization, however many others take what they get", () => {
    const budget = createBodyBudget({ total: 256, perOwner: 64 });
    const take = (owner: string): number => {
      const before = budget.heldBytes();
      try {
        for (let n = 0; n < 256; n++) budget.countArrived(bodyOf(owner), 1);
      } catch {}
      return budget.heldBytes() - before;
    };
    expect(["a", "b", "c", "d", "e", "f"].map(take)).toEqual([64, 64, 64, 32, 16, 8]);
  });

  test("gives bytes back also when there is no room left", () => {
    const budget = createBodyBudget({ total: 100, perOwner: 30 });
    const bodies = ["a", "b", "c", "d"].map(bodyOf);
    for (const body of bodies) budget.countArrived(body, 20);
    expect(() => budget.countArrived(bodies[0]!, 5)).toThrow(Unavailable);
    budget.countArrived(bodies[0]!, -10);
    expect(budget.heldBytes()).toBe(70);
  });

  test("admits a single body of any size", () => {
    const budget = createBodyBudget({ total: 100, perOwner: 50 });
    const large = bodyOf("a");
    budget.countArrived(large, 80);
    budget.countArrived(large, 40);
    expect(budget.heldBytes()).toBe(120);
  });

  test("refuses an organization beyond its share, but no other organization", () => {
    const budget = createBodyBudget({ total: 100, perOwner: 30 });
    budget.countArrived(bodyOf("a"), 20);
    expect(() => budget.countArrived(bodyOf("a"), 20)).toThrow(
      expect.objectContaining({ errorCode: "too_many_bytes" }),
    );
    budget.countArrived(bodyOf("b"), 20);
    expect(budget.heldBytes()).toBe(40);
  });

  test("counts by network if the organization is unknown, and all hooks for their organization", () => {
    const budget = createBodyBudget({ total: 100, perOwner: 30 });
    const from = (ip: string) => ({ ip, caller: null, trigger: null }) as unknown as FastifyRequest;
    budget.countArrived(from("192.0.2.1"), 20);
    expect(() => budget.countArrived(from("192.0.2.1"), 20)).toThrow("Too many bytes");
    budget.countArrived(from("2001:db8::1"), 20);
    expect(() => budget.countArrived(from("2001:db8::2"), 20)).toThrow("Too many bytes");
    const hook = (hook_token: string) =>
      ({
        ...from("192.0.2.1"),
        params: { hook_token },
        trigger: { organization_id: "a" },
      }) as unknown as FastifyRequest;
    budget.countArrived(hook("t"), 20);
    expect(() => budget.countArrived(hook("u"), 20)).toThrow("Too many bytes");
    expect(() => budget.countArrived(bodyOf("a"), 20)).toThrow("Too many bytes");
  });
});
