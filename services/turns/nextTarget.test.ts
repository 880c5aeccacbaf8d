import { expect, test } from "vitest";
import type { CircuitState } from "./circuits.ts";
import { ModelError } from "./model.ts";
import {
  failureReason,
  FirstWordTimeout,
  hasAttemptsLeft,
  shouldAskNextTarget,
  MissingCredential,
  nextTarget,
} from "./nextTarget.ts";

const ROUTE = { targets: ["p/a", "p/b", "p/c"] };
const failed = (target: string, reason = "503") => ({ round: 0, target, reason, duration_ms: 10 });
const next = (failures: ReturnType<typeof failed>[], states: Record<string, CircuitState> = {}, first?: string) =>
  nextTarget(ROUTE, failures, { first, circuit: (target) => states[target] ?? "closed" });

test.each([
  ["the first target", [], {}, "p/a"],
  ["the next target after a failure", [failed("p/a")], {}, "p/b"],
  ["the first target again when all have failed", [failed("p/a"), failed("p/b"), failed("p/c")], {}, "p/a"],
  ["no target again that refused", [failed("p/a", "404"), failed("p/b"), failed("p/c")], {}, "p/b"],
  ["no target again that said nothing", [failed("p/a", "timeout"), failed("p/b"), failed("p/c")], {}, "p/b"],
  ["a target with a closed circuit before one with an open circuit", [], { "p/a": "open" }, "p/b"],
  ["the first target when all circuits are open", [], { "p/a": "open", "p/b": "open", "p/c": "open" }, "p/a"],
  [
    "a target with an open circuit rather than a silent one",
    [],
    { "p/a": "silent", "p/b": "open", "p/c": "silent" },
    "p/b",
  ],
  ["no target when all are silent", [], { "p/a": "silent", "p/b": "silent", "p/c": "silent" }, undefined],
  [
    "no target with an open circuit after another was asked",
    [failed("p/a", "404")],
    { "p/b": "open", "p/c": "open" },
    undefined,
  ],
] as const)("a turn asks %s", (_, failures, states, expected) =>
  expect(next([...failures], states)?.target).toBe(expected),
);

test("a turn stays with the target that answered its last round", () => {
  expect(next([], {}, "p/c")?.target).toBe("p/c");
  expect(next([failed("p/c")], {}, "p/c")?.target).toBe("p/a");
});

test("the skipped targets are named", () =>
  expect(next([], { "p/a": "open", "p/b": "silent" })).toEqual({ target: "p/c", tried: 0, skipped: ["p/a", "p/b"] }));

const error = (kind: ModelError["kind"], status?: number) =>
  new ModelError(kind, "No.", status === undefined ? {} : { status });

test.each([
  [error("transient", 429), "429", true],
  [error("transient", 529), "529", true],
  [error("transient"), "connection", true],
  [error("transient", 408), "timeout", true],
  [new FirstWordTimeout("transient", "Nothing."), "timeout", true],
  [new MissingCredential("refused", "None.", { status: 404 }), "no_credential", true],
  [error("refused", 401), "401", false],
  [error("refused"), "refused", false],
])("the failure %s has the reason %s", (cause, reason, covered) => {
  expect(failureReason(cause, false)).toBe(reason);
  expect(shouldAskNextTarget({ on: ["429", "5xx", "timeout", "connection"] }, reason)).toBe(covered);
});

test("a status is covered by its own number or by its class alone", () => {
  expect(shouldAskNextTarget({ on: ["401"] }, "401")).toBe(true);
  expect(shouldAskNextTarget({ on: ["503"] }, "500")).toBe(false);
  expect(shouldAskNextTarget({ on: ["timeout"] }, "503")).toBe(false);
});

test("a turn fails when its requests or its time are used up; targets that were not asked cost nothing", () => {
  const route = { targets: [], on: [], timeout_seconds: 1, max_attempts: 2, max_seconds: 1 };
  expect(hasAttemptsLeft(route, [failed("p/a"), failed("p/b", "circuit_open"), failed("p/c", "no_credential")])).toBe(
    true,
  );
  expect(hasAttemptsLeft(route, [failed("p/a"), failed("p/b")])).toBe(false);
  expect(hasAttemptsLeft(route, [{ ...failed("p/a"), duration_ms: 1_000 }])).toBe(false);
});
