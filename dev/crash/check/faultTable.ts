import type { Attempt, InjectedFault } from "../journal.ts";
import type { Evidence } from "./evidence.ts";
import { succeeded, timeOf } from "./recovery.ts";

const STATUSES_SHOWN = 5;

/** What clients saw of a fault. */
interface Seen {
  /** Milliseconds from its end to the end of the first successful request that started later; undefined if there was none. */
  recovery: number | undefined;
  /** The longest time without a successful request, from the start of the fault to the first success afterwards. */
  silence: number;
  /** The slowest 503; undefined if there was none. */
  refusal: Attempt | undefined;
  statuses: (number | null)[];
}

const longest = (times: number[]): number | undefined => (times.length > 0 ? Math.max(...times) : undefined);

const slowestOf = (attempts: Attempt[]): Attempt | undefined => attempts.toSorted((a, b) => timeOf(b) - timeOf(a))[0];

function observeFault({ at, until = at }: InjectedFault, all: Attempt[]): Seen {
  const firsts = all.filter((one) => succeeded(one) && one.start >= until).map(({ end }) => end);
  const firstSuccess = firsts.length > 0 ? Math.min(...firsts) : undefined;
  const during = all.filter(({ end }) => end >= at && end <= (firstSuccess ?? Infinity));
  const ends = [
    at,
    ...during.filter(succeeded).map(({ end }) => end),
    ...(firstSuccess === undefined ? [] : [firstSuccess]),
  ];
  const sorted = ends.toSorted((a, b) => a - b);
  return {
    recovery: firstSuccess === undefined ? undefined : firstSuccess - until,
    silence: Math.max(0, ...sorted.slice(1).map((end, n) => end - sorted[n]!)),
    refusal: slowestOf(during.filter(({ status }) => status === 503)),
    statuses: during.map(({ status }) => status),
  };
}

/** `200 × 41, 503 × 2, broken × 1`, the most frequent first. */
function countStatuses(statuses: (number | null)[]): string {
  const counts = new Map<string, number>();
  for (const status of statuses) {
    const name = status === null ? "broken" : String(status);
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const sorted = [...counts].toSorted(([, a], [, b]) => b - a).slice(0, STATUSES_SHOWN);
  return sorted.map(([name, count]) => `${name} × ${count}`).join(", ") || "none";
}

/** Faults with too many targets for one row each. The last word of such a target says what the fault does. */
const OF_NETWORKS: readonly string[] = ["network", "partition"];

/** The kind of a fault, without the number of its process; of a network fault, only what it does. */
function kindOf({ what, target }: InjectedFault): string {
  if (OF_NETWORKS.includes(what)) return `${what} ${target.split(" ").at(-1)}`;
  return `${what} ${target.replace(/ \d+(?= |$)/, "")}`.trim();
}

const inSeconds = (ms: number | undefined, otherwise: string): string =>
  ms === undefined ? otherwise : (ms / 1_000).toFixed(1);

/** `2.4 (chat, unavailable)` */
function describeRefusal(refusals: Attempt[], operations: Evidence["operations"]): string {
  const slowest = slowestOf(refusals);
  if (!slowest) return "none";
  const what = operations.find(({ id }) => id === slowest.operation)?.what ?? "unfinished";
  return `${inSeconds(timeOf(slowest), "")} (${what}, ${slowest.code ?? "no code"})`;
}

/** One line per kind of fault: how often it occurred, the slowest recovery and 503, and what clients saw until the recovery. */
export function faultTable({
  faults,
  attempts,
  operations,
}: Pick<Evidence, "faults" | "attempts" | "operations">): string[] {
  const all = [...attempts.values()].flat();
  const kinds = new Map<string, Seen[]>();
  for (const fault of faults) kinds.set(kindOf(fault), [...(kinds.get(kindOf(fault)) ?? []), observeFault(fault, all)]);
  const rows = [...kinds].toSorted(([a], [b]) => a.localeCompare(b));
  if (rows.length === 0) return [];
  return [
    "| Fault | Count | Slowest first success after its end, s | Longest without a success, s | Slowest 503, s | Clients saw |",
    "|---|---|---|---|---|---|",
    ...rows.map(([kind, seen]) => {
      const recoveries = seen.map(({ recovery }) => recovery);
      const isBack = (recovery: number | undefined) => recovery !== undefined;
      const slowest = recoveries.every(isBack) ? longest(recoveries) : undefined;
      const silence = longest(seen.map((one) => one.silence));
      const refusal = describeRefusal(
        seen.flatMap((one) => one.refusal ?? []),
        operations,
      );
      const statuses = countStatuses(seen.flatMap((one) => one.statuses));
      return `| ${kind} | ${seen.length} | ${inSeconds(slowest, "never")} | ${inSeconds(silence, "-")} | ${refusal} | ${statuses} |`;
    }),
  ];
}
