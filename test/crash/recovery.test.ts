import { expect, test } from "vitest";
import { checkErrors, checkRecovery, checkUnavailable, slowRefusals } from "../../dev/crash/check/recovery.ts";
import type { Attempt, InjectedFault, Operation } from "../../dev/crash/journal.ts";

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

test("a fault is over if a request that started after its end succeeds within 30 s", () => {
  const attempts = [attempt(0, 200), attempt(11_000, 503), attempt(38_000, 200)];
  expect(found([fault(5_000, 10_000)], attempts)).toEqual([]);
});

test("the checker names a fault after which nothing succeeded for more than 30 s, or ever", () => {
  const late = [attempt(9_500, 200), attempt(12_000, null), attempt(40_000, 201)];
  expect(found([fault(5_000, 10_000)], late)).toEqual([
    "stuck I21 kill nats no request succeeded for 31.0 s after its end",
  ]);
  const never = [attempt(1_000, 200), attempt(44_500, 503)];
  expect(found([fault(5_000)], never)).toEqual(["stuck I21 kill nats no request succeeded for 40.5 s after its end"]);
});

test("the time of other faults does not count as recovery time", () => {
  const attempts = [attempt(60_000, 200)];
  const others = [fault(12_000, 40_000), fault(15_000, 38_000), fault(70_000, 90_000)];
  expect(found([fault(5_000, 10_000), ...others], attempts)).toEqual([]);
});

test("the checker names a 503 without a retry time", () => {
  const attempts = new Map([["o", [attempt(0, 503), { ...attempt(1, 503), code: "unavailable", retry_after: false }]]]);
  expect(checkUnavailable({ attempts })).toEqual([
    { kind: "different", rule: "I22", about: "o", what: "got a 503 (unavailable) without Retry-After" },
  ]);
});

test("each kind of request must recover on each port separately", () => {
  const probed = (port: number, broken: boolean) =>
    [12_000, 30_000, 45_000].map((start) => ({ ...attempt(start, broken ? 503 : 200), port }));
  const attempts = new Map([
    ["o", [attempt(11_000, 200)]],
    ["probe turn", [...probed(1, false), ...probed(2, false)]],
    ["probe search", [...probed(1, false), ...probed(2, true)]],
  ]);
  expect(checkRecovery({ faults: [fault(5_000, 10_000)], attempts }).map(({ what }) => what)).toEqual([
    "no search on port 2 succeeded for 36.0 s after its end",
  ]);
});

test("the checker names each 500, and each 502 that no provider can have caused", () => {
  const attempts = new Map([
    ["o", [attempt(0, 500), attempt(1, 502), attempt(2, 503)]],
    ["probe upload", [attempt(0, 502), attempt(1, 200)].map((one) => ({ ...one, operation: "probe upload" }))],
  ]);
  expect(checkErrors({ attempts }).map(({ rule, about, what }) => [rule, about, what].join(" "))).toEqual([
    "I23 o got a 500 (no code) on port 1",
    "I23 probe upload got a 502 (no code) on port 1",
  ]);
});

test("503s that take longer than 5 s are counted and named, the slowest first", () => {
  const slow = (operation: string, end: number) => ({ ...attempt(0, 503), operation, end });
  const attempts = new Map([
    ["o", [attempt(0, 503), slow("o", 5_100), attempt(0, 200)]],
    ["probe turn", [slow("probe turn", 6_200)]],
  ]);
  const operations = [{ id: "o", what: "chat" } as Operation];
  expect(slowRefusals({ attempts, readiness: [], faults: [], operations })).toEqual({
    slow: 2,
    all: 3,
    slowest: ["probe turn 6.2 s", "chat 5.1 s"],
  });
});

test("a 503 of a process that was stopped meanwhile does not count as slow, but a 503 of another process does", () => {
  const attempts = new Map([["o", [{ ...attempt(0, 503), end: 9_000 }]]]);
  const readiness = [{ kind: "readiness" as const, port: 1, process: "http-1", start: 0, end: 1, status: 200 }];
  const stopped = (target: string) => [{ ...fault(100, 8_000), what: "stop" as const, target }];
  const known = { attempts, readiness, operations: [] };
  expect(slowRefusals({ ...known, faults: stopped("http 1") })).toMatchObject({ slow: 0, all: 1 });
  expect(slowRefusals({ ...known, faults: stopped("http 2") })).toMatchObject({ slow: 1, all: 1 });
});
