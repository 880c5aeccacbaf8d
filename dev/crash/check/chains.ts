import { isDeepStrictEqual } from "node:util";
import { grouped, type Evidence } from "./evidence.ts";
import { different, doubled, lost, type Finding } from "./finding.ts";
import { findErased, openerOf, runsOf, type RunHistory } from "./runHistories.ts";

const originOf = ({ events }: RunHistory) =>
  events[0]!.data.continued_from as { run_id: string; first_run_id: string; nth: number } | undefined;

/** I10: exactly one run continues a run, with the arguments that it passed. */
function checkLink(run: RunHistory, next: RunHistory[], open: ReturnType<typeof openerOf>): Finding[] {
  const name = `run ${run.id}`;
  const [end] = run.ends;
  if (end?.type !== "RunContinued") return next.map(({ id }) => doubled("I10", name, `did not go on, but ${id} does`));
  const [one, ...more] = next;
  if (!one) return [lost("I10", name, `goes on as ${end.data.continued_as}, which is not in the log`)];
  const origin = originOf(one)!;
  return [
    ...more.map(({ id }) => doubled("I10", name, `goes on as ${one.id} and as ${id}`)),
    ...(one.id === end.data.continued_as && isDeepStrictEqual(open(one.args), open(end.personal?.args))
      ? []
      : [different("I10", name, `goes on as ${one.id}, which is not what it named`)]),
    ...(origin.nth === (originOf(run)?.nth ?? 1) + 1 && origin.first_run_id === end.data.first_run_id
      ? []
      : [different("I10", `run ${one.id}`, `has another place in its chain than ${origin.nth}`)]),
  ];
}

/** I10: the last run of a chain has the result of the whole chain. */
function checkEnd(
  first: RunHistory,
  following: Map<string, RunHistory[]>,
  open: ReturnType<typeof openerOf>,
): Finding[] {
  const path = [first];
  for (let next = following.get(first.id)?.[0]; next; next = following.get(next.id)?.[0]) path.push(next);
  const [end] = path.at(-1)!.ends;
  if (end?.type !== "RunCompleted") return [];
  const erased = findErased(`run ${first.id}`, [first.args, end.personal?.result], open);
  if (erased.length > 0) return erased;
  const { id, left } = open(first.args) as { id: string; left: number };
  const ids = path.map((run) => run.id);
  const result = open(end.personal?.result);
  return isDeepStrictEqual(result, { id, path: ids }) && ids.length === left + 1
    ? []
    : [different("I10", `run ${first.id}`, `its chain of ${ids.length} ends with ${JSON.stringify(result)}`)];
}

/** Chains of runs that continue each other. */
export function checkChains({ operations, events, values }: Evidence): Finding[] {
  const open = openerOf(values);
  const runs = runsOf(events);
  const following = grouped(
    runs.filter((run) => originOf(run)),
    (run) => originOf(run)!.run_id,
  );
  const started = new Set(
    operations.flatMap(({ what, asked, got }) =>
      what === "run.start" && asked["kind"] === "chained" ? [got["run_id"]] : [],
    ),
  );
  return [
    ...runs.flatMap((run) => checkLink(run, following.get(run.id) ?? [], open)),
    ...runs.filter(({ id }) => started.has(id)).flatMap((run) => checkEnd(run, following, open)),
  ];
}
