import { isDeepStrictEqual } from "node:util";
import type { Operation } from "../journal.ts";
import { DEFAULTS } from "../load/workflows.ts";
import { grouped, type Evidence } from "./evidence.ts";
import { different, doubled, lost, type Finding } from "./finding.ts";
import { argsOf, runsOf, type RunHistory } from "./runHistories.ts";

/** I1: a start answered with 202 is a run in the log, with the sent arguments. */
function checkAnswered(operation: Operation, run: RunHistory | undefined, values: Map<string, string>): Finding[] {
  const { asked, got, what } = operation;
  if (!got["accepted"]) return [different("I1", operation, "was not answered with 202")];
  if (!run) return [lost("I1", operation, `the run ${got["run_id"]} is not in the log`)];
  const sent = what === "run.hook" ? { ...DEFAULTS, ...asked["args"] } : asked["args"];
  if (!isDeepStrictEqual(argsOf(values, run), sent))
    return [different("I1", operation, `the run ${run.id} has other arguments`)];
  return run.external_user_id === asked["external_user_id"]
    ? []
    : [different("I1", operation, `the run ${run.id} is of the user ${run.external_user_id}`)];
}

/** I3: starts under one key are one run, which all answers name. Without a key, each attempt may have started a run. */
function checkOnce(starts: Operation[], runs: RunHistory[], tries: number): Finding[] {
  const [first] = starts as [Operation, ...Operation[]];
  const answered = new Set(starts.flatMap(({ got }) => got["run_id"] ?? []));
  if (!first.keyed)
    return runs.length > tries ? [doubled("I3 without a key", first, `${runs.length} runs of ${tries} tries`)] : [];
  const ids = new Set([...answered, ...runs.map(({ id }) => id)]);
  return ids.size > 1 ? [doubled("I3", first, `is the runs ${[...ids].join(", ")}`)] : [];
}

/** A concurrency slot of an envelope is held by one live run at a time. */
function checkSlots(runs: RunHistory[]): Finding[] {
  const held = grouped(
    runs.filter(({ slot }) => slot !== null),
    ({ slot }) => slot!,
  );
  return [...held].flatMap(([slot, holders]) => {
    const ordered = holders.toSorted((a, b) => a.events[0]!.position - b.events[0]!.position);
    return ordered.slice(1).flatMap((run, n) => {
      const before = ordered[n]!;
      return (before.ends[0]?.position ?? Infinity) < run.events[0]!.position
        ? []
        : [doubled("I10", slot, `is held by the runs ${before.id} and ${run.id} at once`)];
    });
  });
}

export function checkStarts({ operations, attempts, events, values }: Evidence): Finding[] {
  const runs = runsOf(events);
  const byId = new Map(runs.map((run) => [run.id, run]));
  const byOperation = grouped(runs, ({ operation }) => operation);
  const starts = operations.filter(({ what }) => what === "run.start" || what === "run.hook");
  const together = grouped(starts, ({ asked, id }) => asked["key"] ?? id);
  return [
    ...starts
      .filter(({ outcome }) => outcome === "done")
      .flatMap((operation) => checkAnswered(operation, byId.get(operation.got["run_id"]), values)),
    ...[...together.values()].flatMap((same) => {
      const begun = same.flatMap(({ id }) => byOperation.get(id) ?? []);
      const tries = same.reduce((sum, { id }) => sum + (attempts.get(id)?.length ?? 0), 0);
      return checkOnce(same, begun, tries);
    }),
    ...checkSlots(runs),
  ];
}
