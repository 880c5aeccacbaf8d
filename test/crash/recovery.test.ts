import { expect, test } from "vitest";
import { checkRecovery, checkUnavailable } from "../../dev/crash/check/recovery.ts";
import type { Attempt, InjectedFault } from "../../dev/crash/journal.ts";

const attempt = (start: number, status: number | null): Attempt => ({
  kind: "attempt",
  operation: "o",
  port: 1,
  start,
  end: start + 1_000,
  status,
  code: null,
  request_id: null,
  retry_after: true,
});
const fault = (at: number, until?: number): InjectedFault => ({
  kind: "fault",
  what: "kill",
  target: "nats",
  at,
  ...(until !== undefined && { until }),
});
const found = (faults: InjectedFault[], attempts: Attempt[]) =>
  checkRecovery({ faults, attempts: new Map([["o", attempts]]) }).map(({ kind, rule, about, what }) =>
    [kind, rule, about, what].join(" "),
  );

test("a fault is over when a request that started after its end succeeds within 30 s", () => {
  const attempts = [attempt(0, 200), attempt(11_000, 503), attempt(38_000, 200)];
  expect(found([fault(5_000, 10_000)], attempts)).toEqual([]);
});

test("the checker names a fault after which nothing succeeded for more than 30 s, and one after which nothing ever did", () => {
  const late = [attempt(9_500, 200), attempt(12_000, null), attempt(40_000, 201)];
  expect(found([fault(5_000, 10_000)], late)).toEqual([
    "stuck I21 kill nats no request succeeded for 31.0 s after its end",
  ]);
  const never = [attempt(1_000, 200), attempt(44_500, 503)];
  expect(found([fault(5_000)], never)).toEqual(["stuck I21 kill nats no request succeeded for 40.5 s after its end"]);
});

test("the time of other faults does not count as recovery from one", () => {
  const attempts = [attempt(60_000, 200)];
  const others = [fault(12_000, 40_000), fault(15_000, 38_000), fault(70_000, 90_000)];
  expect(found([fault(5_000, 10_000), ...others], attempts)).toEqual([]);
});

test("the checker names a 503 that does not say when to ask again", () => {
  const attempts = new Map([["o", [attempt(0, 503), { ...attempt(1, 503), code: "unavailable", retry_after: false }]]]);
  expect(checkUnavailable({ attempts })).toEqual([
    { kind: "different", rule: "I22", about: "o", what: "got a 503 (unavailable) without Retry-After" },
  ]);
});
