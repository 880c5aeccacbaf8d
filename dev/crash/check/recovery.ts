import type { Attempt, InjectedFault, Operation } from "../journal.ts";
import { PROBED } from "../load/probe.ts";
import { grouped, type Evidence } from "./evidence.ts";
import { different, stuck, type Finding } from "./finding.ts";
import { isSilenced } from "./readiness.ts";

/** A fault affects operations that start within this time after it. Also the promised maximum time of a 503. */
const SETTLED_MS = 5_000;
/** The promise: after the end of a fault, requests succeed again within this time, without intervention. */
const MAX_RECOVERY_MS = 30_000;

export interface Spread {
  p50: number;
  p99: number;
  max: number;
}

function spreadOf(values: number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number) => Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0);
  return { p50: at(0.5), p99: at(0.99), max: Math.round(sorted.at(-1) ?? 0) };
}

export const succeeded = ({ status }: Attempt): boolean => status !== null && status < 300;

/** Milliseconds from each fault to the end of the first successful request that started after it; the slowest last. */
function firstSuccesses({ faults, attempts }: Evidence): { fault: InjectedFault; ms: number }[] {
  const all = [...attempts.values()].flat().filter(succeeded);
  return faults
    .flatMap((fault) => {
      const ends = all.filter(({ start }) => start >= fault.at).map(({ end }) => end);
      return ends.length > 0 ? [{ fault, ms: Math.min(...ends) - fault.at }] : [];
    })
    .toSorted((a, b) => a.ms - b.ms);
}

/** Milliseconds from the first attempt to the answer, for operations that met a fault and needed more than one attempt or more than 5 s. */
function delays({ operations, faults }: Evidence): number[] {
  const hit = ({ start, end, attempts }: Operation) =>
    (attempts > 1 || end - start > SETTLED_MS) && faults.some(({ at }) => at > start - SETTLED_MS && at < end);
  return operations.filter(hit).map(({ start, end }) => end - start);
}

/** How long clients waited after faults, and after which fault they waited longest. */
export function recovery(evidence: Evidence): { first: Spread; slowest: string; delayed: Spread & { count: number } } {
  const delayed = delays(evidence);
  const firsts = firstSuccesses(evidence);
  const { what = "", target = "" } = firsts.at(-1)?.fault ?? {};
  return {
    first: spreadOf(firsts.map(({ ms }) => ms)),
    slowest: `${what} ${target}`.trim(),
    delayed: { ...spreadOf(delayed), count: delayed.length },
  };
}

/** Faults must surface as 503. The probe's model is part of the process, so no provider can cause a 502. */
export const checkErrors = ({ attempts }: Pick<Evidence, "attempts">): Finding[] =>
  [...attempts.values()]
    .flat()
    .filter(({ status, operation }) => status === 500 || (status === 502 && operation.startsWith("probe ")))
    .map(({ operation, port, status, code }) =>
      different("I23", operation, `got a ${status} (${code ?? "no code"}) on port ${port}`),
    );

/** How many slow 503s are named. */
const NAMED = 5;

export const timeOf = ({ start, end }: Attempt): number => end - start;

/**
 * 503s slower than the promised 5 s, except from a process that was stopped meanwhile. They are printed, but not yet findings.
 * `slowest`: the operations that met the slowest of them, and the time of each.
 */
export function slowRefusals({
  attempts,
  readiness,
  faults,
  operations,
}: Pick<Evidence, "attempts" | "readiness" | "faults" | "operations">): {
  slow: number;
  all: number;
  slowest: string[];
} {
  const processes = new Map(readiness.map(({ port, process }) => [port, process]));
  const isSlow = (one: Attempt) =>
    timeOf(one) > SETTLED_MS && !isSilenced({ ...one, process: processes.get(one.port) ?? "" }, faults);
  const refused = [...attempts.values()].flat().filter(({ status }) => status === 503);
  const slow = refused.filter(isSlow).toSorted((a, b) => timeOf(b) - timeOf(a));
  const kinds = new Map<string, string>(operations.map(({ id, what }) => [id, what]));
  const describe = (one: Attempt) =>
    `${kinds.get(one.operation) ?? one.operation} ${(timeOf(one) / 1_000).toFixed(1)} s`;
  return { slow: slow.length, all: refused.length, slowest: slow.slice(0, NAMED).map(describe) };
}

/** A 503 without a Retry-After. */
export const checkUnavailable = ({ attempts }: Pick<Evidence, "attempts">): Finding[] =>
  [...attempts.values()]
    .flat()
    .filter(({ status, retry_after }) => status === 503 && !retry_after)
    .map(({ operation, code }) => different("I22", operation, `got a 503 (${code}) without Retry-After`));

/** Milliseconds between two moments without any of these faults. */
function quietTime(from: number, to: number, faults: InjectedFault[]): number {
  let [quiet, reached] = [0, from];
  for (const { at, until = at } of faults.toSorted((a, b) => a.at - b.at)) {
    if (at >= to) break;
    quiet += Math.max(0, at - reached);
    reached = Math.max(reached, Math.min(until, to));
  }
  return quiet + Math.max(0, to - reached);
}

/** The parts that recover separately: requests in general, and each kind of the probe's requests on each port. */
function requestsThatRecover(attempts: Evidence["attempts"]): [name: string, attempts: Attempt[]][] {
  const probed = PROBED.flatMap((what) => {
    const byPort = grouped(attempts.get(`probe ${what}`) ?? [], ({ port }) => String(port));
    return [...byPort].map(([port, some]): [string, Attempt[]] => [`${what} on port ${port}`, some]);
  });
  return [["request", [...attempts.values()].flat()], ...probed];
}

/** A fault after which no request in general, or none of a kind on a port, succeeded for 30 s without another fault. */
export function checkRecovery({ faults, attempts }: Pick<Evidence, "faults" | "attempts">): Finding[] {
  return requestsThatRecover(attempts).flatMap(([name, some]) => findLate(faults, name, some));
}

function findLate(faults: InjectedFault[], name: string, all: Attempt[]): Finding[] {
  const last = Math.max(0, ...all.map(({ end }) => end));
  return faults.flatMap(({ what, target, at, until = at }) => {
    const ends = all.filter((one) => succeeded(one) && one.start >= until).map(({ end }) => end);
    const waited = quietTime(until, ends.length > 0 ? Math.min(...ends) : last, faults);
    const seconds = (waited / 1_000).toFixed(1);
    return waited > MAX_RECOVERY_MS
      ? [stuck("I21", `${what} ${target}`, `no ${name} succeeded for ${seconds} s after its end`)]
      : [];
  });
}
