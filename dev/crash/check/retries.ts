import type { Operation } from "../journal.ts";
import { grouped, type Evidence } from "./evidence.ts";
import { different, doubled, lost, type Finding } from "./finding.ts";
import { runsOf, type RunHistory } from "./runHistories.ts";

const parentOf = ({ events }: RunHistory) => events[0]!.data.parent as { run_id: string; kind: string } | undefined;

/** I5: calls answered in the parent are not made again. */
function checkInherited(run: RunHistory, parent: RunHistory | undefined): Finding[] {
  const answered = new Set(parent?.steps.filter(({ ends }) => ends.some(({ ok }) => ok)).map(({ key }) => key));
  return run.steps
    .filter(({ key }) => answered.has(key))
    .map(({ name, key }) => doubled("I5", `run ${run.id}`, `does the step ${name} ${key} again, which its parent did`));
}

/** I1: an acknowledged retry is the run in the log. */
function checkAnswered({ id, asked, got, outcome }: Operation, runs: Map<string, RunHistory>): Finding[] {
  if (outcome !== "done") return [];
  const run = runs.get(got["new_run_id"]);
  if (!run) return [lost("I1", `run.retry ${id}`, `the run ${got["new_run_id"]} is not in the log`)];
  return parentOf(run)?.run_id === asked["run_id"]
    ? []
    : [different("I1", `run.retry ${id}`, `the run ${run.id} does not continue ${asked["run_id"]}`)];
}

/** Retries of failed runs: one per run, however often and by however many it is requested. */
export function checkRetries({ operations, events }: Evidence): Finding[] {
  const all = runsOf(events);
  const runs = new Map(all.map((run) => [run.id, run]));
  const retries = all.filter((run) => parentOf(run)?.kind === "retry");
  return [
    ...[...grouped(retries, (run) => parentOf(run)!.run_id)]
      .filter(([, own]) => own.length > 1)
      .map(([id, own]) => doubled("I3", `run ${id}`, `has the retries ${own.map((run) => run.id).join(", ")}`)),
    ...retries.flatMap((run) => checkInherited(run, runs.get(parentOf(run)!.run_id))),
    ...operations.filter(({ what }) => what === "run.retry").flatMap((operation) => checkAnswered(operation, runs)),
  ];
}
