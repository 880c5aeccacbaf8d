import { isDeepStrictEqual } from "node:util";
import type { RecordedEvent } from "#events/envelope.ts";
import { parseStreamName } from "#events/ids.ts";
import { runOfScope } from "#events/scope.ts";
import { grouped, operationOf, type Evidence } from "./evidence.ts";
import { different, doubled, lost, type Finding } from "./finding.ts";
import { ENDS, findErased, openerOf, runsOf, type RunHistory } from "./runHistories.ts";

/** Events that stored something, by the id of the run. */
type EventsByRun = Map<string, RecordedEvent<any>[]>;

/** I10: a run stored only one thing under this name, however many attempts its step had, and it still exists. */
function checkThing(run: RunHistory, what: string, stored: EventsByRun, wanted: string, gone: Set<string>): Finding[] {
  const name = `run ${run.id}`;
  const ids = new Set((stored.get(run.id) ?? []).map(({ stream }) => parseStreamName(stream).id));
  if (ids.size > 1) return [doubled("I10", name, `stored ${ids.size} ${what}s`)];
  if (!ids.has(wanted))
    return [lost("I10", name, `says that it stored the ${what} ${wanted}, which is not in the log`)];
  return gone.has(wanted) ? [lost("I10", name, `its ${what} ${wanted} was deleted, but nobody asked for it`)] : [];
}

/** I10: each start that a rate allows is taken by only one run. */
function checkStartRates(runs: RunHistory[]): Finding[] {
  const starts = grouped(
    runs.filter(({ events: [created] }) => created!.data.start_place !== undefined),
    ({ events: [created] }) => String(created!.data.start_place),
  );
  return [...starts.values()]
    .filter((same) => same.length > 1)
    .map((same) => doubled("I10", `run ${same[1]!.id}`, `took the start of a rate that the run ${same[0]!.id} has`));
}

/** Runs that save a file and push a document, and whose starts have a rate. */
export function checkStoringRuns({ operations, events, values }: Evidence): Finding[] {
  const open = openerOf(values);
  const runs = runsOf(events);
  const storing = new Set(
    operations.flatMap(({ what, asked, got }) =>
      what === "run.start" && asked["kind"] === "storing" && got["run_id"] ? [got["run_id"]] : [],
    ),
  );
  const of = (type: string) => events.filter((event) => event.type === type) as RecordedEvent<any>[];
  const files: EventsByRun = grouped(of("FileUploaded"), ({ data }) => runOfScope(data.scope) ?? "");
  const documents: EventsByRun = grouped(of("DocumentUploaded"), ({ meta }) => operationOf(meta.request_id));
  const gone = new Set(
    [...of("FileDeleted"), ...of("DocumentDeleted")].map(({ stream }) => parseStreamName(stream).id),
  );
  const completed = runs.filter(({ id, ends: [end] }) => storing.has(id) && end && ENDS[end.type] === "completed");
  return [
    ...completed.flatMap((run): Finding[] => {
      const stored = run.ends[0]!.personal?.result;
      const erased = findErased(`run ${run.id}`, [run.args, stored], open);
      if (erased.length > 0) return erased;
      const { id } = open(run.args) as { id: string };
      const result = open(stored) as { id: string; stored: Record<string, string> };
      const { file_id = "", document_id = "" } = result.stored;
      const wanted = { id, stored: { file_id, content: `File of ${id}`, document_id } };
      return [
        ...(isDeepStrictEqual(result, wanted)
          ? []
          : [different("I10", `run ${run.id}`, `its result is ${JSON.stringify(result)}`)]),
        ...checkThing(run, "file", files, file_id, gone),
        ...checkThing(run, "document", documents, document_id, gone),
      ];
    }),
    ...checkStartRates(runs),
  ];
}
