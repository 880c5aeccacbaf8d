import { expect, test } from "vitest";
import { faultTable } from "../../dev/crash/check/faultTable.ts";
import type { Attempt, Operation } from "../../dev/crash/journal.ts";

const attempt = (start: number, end: number, status: number | null): Attempt => ({
  kind: "attempt",
  operation: "o",
  port: 1,
  start,
  end,
  status,
  code: status === 503 ? "unavailable" : null,
  request_id: null,
  retry_after: true,
});

test("the table shows for each kind of fault the slowest recovery, the slowest 503 with its process, and what clients saw until then", () => {
  const fault = (target: string, at: number, until: number) =>
    ({ kind: "fault", what: "network", target, at, until }) as const;
  const attempts = new Map([
    [
      "o",
      [
        attempt(0, 900, 200),
        attempt(1_000, 4_000, 503),
        attempt(2_500, 3_500, 200),
        attempt(5_500, 7_000, 200),
        attempt(8_000, 9_000, null),
        attempt(20_000, 20_100, 200),
      ],
    ],
  ]);
  const faults = [fault("http 1 nats deaf", 1_000, 5_000), fault("services 2 postgres deaf", 8_000, 19_000)];
  const operations = [{ id: "o", what: "chat" } as Operation];
  expect(faultTable({ faults, attempts, operations }).slice(2)).toEqual([
    "| network deaf | 2 | 2.0 | 12.1 | 3.0 (chat, unavailable) | 200 × 3, 503 × 1, broken × 1 |",
  ]);
});

test("the table says never when nothing succeeded after a fault", () => {
  const faults = [{ kind: "fault", what: "kill", target: "nats", at: 5 } as const];
  expect(faultTable({ faults, attempts: new Map(), operations: [] }).at(-1)).toBe(
    "| kill nats | 1 | never | 0.0 | none | none |",
  );
});
