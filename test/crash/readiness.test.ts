import { expect, test } from "vitest";
import { checkReadiness } from "../../dev/crash/check/readiness.ts";
import type { Attempt, InjectedFault, Operation, Readiness } from "../../dev/crash/journal.ts";

const SECOND = 1_000;

/** The answers of `/readyz`, one per second, from this second on. */
const readyz = (from: number, statuses: (number | null)[], more: Partial<Readiness> = {}): Readiness[] =>
  statuses.map((status, n) => {
    const start = (from + n) * SECOND;
    return { kind: "readiness", process: "http-1", port: 1, start, end: start + 100, status, ...more };
  });

const attempt = (operation: string, second: number, status: number | null): Attempt => ({
  kind: "attempt",
  operation,
  port: 1,
  start: second * SECOND,
  end: second * SECOND + 500,
  status,
  code: null,
  request_id: null,
  retry_after: true,
});
const turns = (from: number, statuses: (number | null)[]) =>
  statuses.map((status, n) => attempt("probe turn", from + n, status));

const ready = (n: number): number[] => Array.from({ length: n }, () => 200);
const refused = (n: number): number[] => Array.from({ length: n }, () => 503);

function found(readiness: Readiness[], attempts: Attempt[], faults: InjectedFault[] = []) {
  const operations = [{ id: "upload 1", what: "file.upload" }] as Operation[];
  const byOperation = new Map<string, Attempt[]>();
  for (const one of attempts) byOperation.set(one.operation, [...(byOperation.get(one.operation) ?? []), one]);
  return checkReadiness({ readiness, attempts: byOperation, operations, faults }).map(({ kind, rule, about, what }) =>
    [kind, rule, about, what].join(" "),
  );
}

test("a /readyz that stays 200 while no write succeeds on its port is a finding", () => {
  expect(found(readyz(0, ready(8)), turns(0, refused(7)))).toEqual([
    "different I24 /readyz on port 1 was 200 for 7.0 s in which 6 turns failed and no write succeeded",
  ]);
});

test("a /readyz may be 200 during 5 s of refusals, and for any time while writes of another kind succeed", () => {
  expect(found([...readyz(0, ready(5)), ...readyz(5, refused(9))], turns(0, refused(14)))).toEqual([]);
  expect(found(readyz(0, ready(9)), [...turns(0, refused(9)), attempt("upload 1", 4, 201)])).toEqual([]);
});

test("reads do not prove readiness, a broken turn counts as failed, and other ports do not count", () => {
  const broken = turns(0, [null, null, null, null, null, null, null]);
  const others = [attempt("read 1", 3, 200), { ...attempt("upload 1", 3, 201), port: 2 }];
  expect(found(readyz(0, ready(8)), [...broken, ...others])).toHaveLength(1);
  expect(found(readyz(0, ready(8), { port: 2 }), turns(0, refused(7)))).toEqual([]);
});

test("requests sent during a 503 of /readyz do not count against a later 200", () => {
  const early = turns(0, refused(6)).map((one) => ({ ...one, end: one.end + 6 * SECOND }));
  expect(found([...readyz(0, refused(6)), ...readyz(6, ready(8))], early)).toEqual([]);
});

const late = { end: 6 * SECOND };
const stop = (target: string): InjectedFault => ({ kind: "fault", what: "stop", target, at: 0, until: 5 * SECOND });

test("a /readyz that takes more than 5 s, or never answers, is a finding unless a fault stops its own process", () => {
  const slow = readyz(0, [200], late);
  const never = readyz(0, [null], { ...late, process: "all-2" });
  expect(found(slow, [])).toEqual(["stuck I24 /readyz on port 1 answered 200 after 6.0 s"]);
  expect(found(never, [], [stop("postgres"), stop("http 1")])).toEqual([
    "stuck I24 /readyz on port 1 answered nothing after 6.0 s",
  ]);
  expect(found(slow, [], [stop("services 1"), stop("http 2")])).toHaveLength(1);
  expect(found(slow, [], [stop("http 1")])).toEqual([]);
  expect(found(never, [], [stop("services 2")])).toEqual([]);
});
