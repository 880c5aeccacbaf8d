import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { EnvelopeChange } from "#events/workflow.ts";
import { changeEnvelope, DEFAULT_ENVELOPE } from "./envelope.ts";

describe("a change of an envelope", () => {
  const changed = (...changes: EnvelopeChange[]) => changes.reduce(changeEnvelope, DEFAULT_ENVELOPE);

  test("keeps omitted fields, also within groups", () => {
    expect(changed({ limits: { max_steps: 7 } }, { limits: { max_parallel: 3 }, secrets: ["a"] })).toEqual({
      ...DEFAULT_ENVELOPE,
      secrets: ["a"],
      limits: { ...DEFAULT_ENVELOPE.limits, max_steps: 7, max_parallel: 3 },
    });
    expect(changed({ approvals: { allow_api_key: false } }, { approvals: {} }).approvals).toEqual({
      ...DEFAULT_ENVELOPE.approvals,
      allow_api_key: false,
    });
  });

  test("replaces lists and the identity as a whole", () => {
    expect(changed({ tools: ["a", "b"] }, { tools: ["c"] }).tools).toEqual(["c"]);
    const id = "0198c0de-0000-7000-8000-00000000000a";
    const person = changed({ run_as: { type: "person", id } });
    expect(person.run_as).toEqual({ type: "person", id });
    expect(changeEnvelope(person, { run_as: { type: "service", id: null } }).run_as).toEqual({
      type: "service",
      id: null,
    });
  });

  test("restores the default of a field or a whole group for null", () => {
    const filled = changed({
      secrets: ["a"],
      limits: { max_steps: 7, max_parallel: 3 },
      concurrency: { max_runs: 2, key: "/customer" },
      retention_days: 1,
    });
    expect(changeEnvelope(filled, { limits: { max_steps: null } }).limits).toEqual({
      ...DEFAULT_ENVELOPE.limits,
      max_parallel: 3,
    });
    expect(changeEnvelope(filled, { concurrency: { key: null } }).concurrency).toEqual({ max_runs: 2, key: null });
    expect(changeEnvelope(filled, { secrets: null, limits: null, concurrency: null, retention_days: null })).toEqual(
      DEFAULT_ENVELOPE,
    );
  });

  test("is rejected if the result is not a valid envelope", () => {
    expect(() => changed({ concurrency: { key: "/customer" } })).toThrow(
      expect.objectContaining({ code: "invalid_envelope", param: "envelope.concurrency.max_runs" }),
    );
  });

  test("is rejected if it names an unknown field", () => {
    for (const wrong of [{ secret: ["a"] }, { limits: { steps: 1 } }, { run_as: { type: "service", user: "x" } }])
      expect(EnvelopeChange.safeParse(wrong).success).toBe(false);
    expect(EnvelopeChange.parse({ run_as: { type: "service" } })).toEqual({ run_as: { type: "service", id: null } });
  });

  test("that sets every field results in that envelope, independent of the previous one", () => {
    const names = fc.array(fc.stringMatching(/^[a-z]{1,5}$/), { maxLength: 3 });
    const some = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
    const changes = fc.record({
      secrets: some(names),
      tools: some(names),
      egress: some(names),
      limits: some(fc.record({ max_steps: some(fc.integer({ min: 1, max: 10_000 })) })),
      concurrency: some(fc.option(fc.record({ max_runs: fc.integer({ min: 1, max: 1_000 }) }))),
      retention_days: some(fc.option(fc.integer({ min: 1, max: 3_650 }))),
    });
    fc.assert(
      fc.property(changes, changes, (one, other) => {
        const whole = changed(one);
        expect(EnvelopeChange.safeParse(whole).success).toBe(true);
        expect(changeEnvelope(changed(other), whole)).toEqual(whole);
      }),
    );
  });
});
