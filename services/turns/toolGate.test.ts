import { describe, expect, test } from "vitest";
import { APPROVAL_FOR_EVERY_CALL, type ToolCondition } from "#events/toolApproval.ts";
import { needsApproval, findToolGate } from "./toolGate.ts";

const call = (args = "{}") => ({ id: "c", name: "pay", arguments: args });
const options = { approvals: { pay: APPROVAL_FOR_EVERY_CALL }, isOfRun: false };

describe("the condition of an approval rule", () => {
  const above: ToolCondition = { argument: "amount", above: 100 };
  const notIn: ToolCondition = { argument: "to", not_in: ["ann", 7] };
  test.each([
    [above, '{"amount":100}', false],
    [above, '{"amount":100.01}', true],
    [above, '{"amount":"1"}', true],
    [above, '{"amount":null}', true],
    [above, '{"amount":[1]}', true],
    [above, "{}", true],
    [above, "", true],
    [above, "no json", true],
    [above, '{"amount":1,"amount":1000}', true],
    [above, '{"__proto__":{"amount":1}}', true],
    [notIn, '{"to":"ann"}', false],
    [notIn, '{"to":7}', false],
    [notIn, '{"to":"Ann"}', true],
    [notIn, '{"to":["ann"]}', true],
    [notIn, "{}", true],
    [{ argument: "constructor", not_in: ["x"] }, "{}", true],
    [null, "{}", true],
  ])("%j with %s needs approval: %s", (when, args, expected) => expect(needsApproval(when, args)).toBe(expected));
});

describe("a tool call at the gate", () => {
  test("of a tool without a rule runs", () => {
    expect(findToolGate(call(), undefined, { ...options, approvals: {} })).toEqual({ kind: "open" });
    expect(findToolGate({ ...call(), name: "toString" }, undefined, options)).toEqual({ kind: "open" });
  });
  test("waits for a decision", () =>
    expect(findToolGate(call(), undefined, options)).toEqual({ kind: "waits", approval: APPROVAL_FOR_EVERY_CALL }));
  test("that was approved runs, after its start is recorded", () =>
    expect(findToolGate(call(), { status: "approved", isStarted: false }, options)).toEqual({ kind: "approved" }));
  test.each([
    ["was started before", { status: "approved", isStarted: true }, /not known whether the call took effect/],
    ["was rejected", { status: "rejected", comment: null }, /^A person rejected this call, so it did not run\.$/],
    ["was rejected with a comment", { status: "rejected", comment: "Too much." }, /The person said: Too much\.$/],
    ["was not decided in time", { status: "expired" }, /Nobody approved this call in time/],
  ] as const)("that %s does not run", (_, decision, reason) =>
    expect(findToolGate(call(), decision, options)).toEqual({ kind: "closed", reason: expect.stringMatching(reason) }),
  );
  test("of a workflow's step does not wait and does not run", () =>
    expect(findToolGate(call(), undefined, { ...options, isOfRun: true })).toMatchObject({ kind: "closed" }));
  test("whose arguments are too long for a person to read does not run", () =>
    expect(findToolGate(call(`{"x":"${"a".repeat(20_000)}"}`), undefined, options)).toMatchObject({ kind: "closed" }));
});
