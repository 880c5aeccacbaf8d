import { describe, expect, test } from "vitest";
import { commandId, fingerprintOf, idempotencyKey } from "./idempotency.ts";

const asking = { organization_id: "o1", principal: "key:k1", user: undefined, method: "POST", path: "/x" };

describe("a command's id", () => {
  test("is the same for the same request and key only", () => {
    expect(commandId(asking, "k")).toBe(commandId({ ...asking }, "k"));
    const others = [{ organization_id: "o2" }, { principal: "key:k2" }, { user: "" }, { user: "u" }, { path: "/y" }];
    const ids = others.map((other) => commandId({ ...asking, ...other }, "k"));
    expect(new Set([...ids, commandId(asking, "k"), commandId(asking, "l")]).size).toBe(others.length + 2);
  });

  test("without a key is like no other, and shows nothing of a key", () => {
    expect(commandId(asking, undefined)).not.toBe(commandId(asking, undefined));
    expect(commandId(asking, "secret")).toMatch(/^[0-9a-f]{64}$/);
  });
});

test("a fingerprint covers the body and what else is named", () => {
  const prints = [
    fingerprintOf(asking, "a"),
    fingerprintOf(asking, "b"),
    fingerprintOf(asking, "a", ["x"]),
    fingerprintOf({ ...asking, user: "u" }, "a"),
  ];
  expect(new Set(prints).size).toBe(4);
});

test.each(["", "two words", "ü", "x".repeat(256), "a\u0000"])("%j is no key", (key) => {
  expect(() => idempotencyKey({ "idempotency-key": key })).toThrow(
    expect.objectContaining({ errorCode: "invalid_idempotency_key" }),
  );
});
