import { print, escapeControls } from "../output.ts";
import { placeIn } from "../workflows/describeCalls.ts";
import { readDefinitions, type LocalDefinition } from "./folder.ts";
import type { Service, ServiceOptions } from "../service.ts";
import { listRemote, withDefinitions } from "./remote.ts";

interface CheckOptions extends ServiceOptions {
  local?: boolean;
  runs: number;
  allowDifferent?: boolean;
}

interface CheckedRun {
  run_id: string;
  status: string;
  outcome: "same" | "different" | "failed" | "unanswered";
  difference: {
    reason: string;
    call: NamedCall | null;
    recorded: NamedCall | null;
    pointers: string[];
    line: number | null;
    column: number | null;
  } | null;
  error: { message: string; line: number | null; column: number | null } | null;
}
interface NamedCall {
  kind: string;
  name: string | null;
}

const named = (call: NamedCall | null): string =>
  call === null ? "nothing" : escapeControls(call.name === null ? call.kind : `${call.kind} ${call.name}`);

function describeDifference(
  file: string,
  { reason, call, recorded, pointers, ...at }: NonNullable<CheckedRun["difference"]>,
): string {
  const where = `${pointers.length > 0 ? ` (${escapeControls(pointers.join(", "))})` : ""}${at.line === null ? "" : ` at ${placeIn(file, at)}`}`;
  switch (reason) {
    case "arguments":
      return `${named(call)} has other arguments${where}`;
    case "call":
      return `${named(call)} is called instead of ${named(recorded)}${where}`;
    case "missing":
      return `${named(recorded)} is not called${where}`;
    case "added":
      return `${named(call)} was never answered${where}`;
    case "result":
      return `the result differs${where}`;
    default:
      return `the run ends differently${where}`;
  }
}

function describeRun(file: string, { run_id, status, outcome, difference, error }: CheckedRun): string {
  const why = difference
    ? describeDifference(file, difference)
    : error && `${placeIn(file, error)}: ${escapeControls(error.message)}`;
  return `${outcome.padEnd(10)} ${run_id} ${status}${why ? `: ${why}` : ""}`;
}

/** Prints one line per run. Returns whether a run differs from its record or fails. */
async function checkRuns(
  { call }: Service,
  id: string,
  { file, source }: LocalDefinition,
  runs: number,
): Promise<boolean> {
  const counts = { checked: 0, same: 0, different: 0, failed: 0, unanswered: 0 };
  let cursor: string | null = null;
  do {
    const limit = Math.min(100, runs - counts.checked);
    const page: any = await call("POST", `/definitions/${id}/check-runs`, { source, limit, cursor });
    for (const run of page.data as CheckedRun[]) print(describeRun(file, run));
    for (const name of Object.keys(counts) as (keyof typeof counts)[]) counts[name] += page[name];
    cursor = page.next_cursor;
  } while (cursor !== null && counts.checked < runs);
  const { checked, ...rest } = counts;
  const outcomes = Object.entries(rest).map(([name, count]) => `${count} ${name}`);
  print(`${file}: ${checked} runs checked: ${outcomes.join(", ")}`);
  return counts.different + counts.failed > 0;
}

/** Checks definitions as a save would, and replays the service's runs with them. If a run differs from its record, sets exit code 1. */
export async function check(path: string, options: CheckOptions): Promise<void> {
  const definitions = await readDefinitions(path);
  for (const { file, lint, type, name } of definitions) {
    for (const { line, column, message } of lint)
      print(`warning ${file}:${line}:${column}: ${escapeControls(message)}`);
    print(`${file}: ${type} ${name} can be saved`);
  }
  if (options.local) return;
  await withDefinitions(options, async (service) => {
    const remote = await listRemote(service);
    for (const local of definitions.filter(({ type }) => type === "workflow")) {
      const known = remote.find(({ type, name }) => type === "workflow" && name === local.name);
      if (!known) print(`${local.file}: the service has no workflow ${local.name}, so there are no runs to check`);
      else if ((await checkRuns(service, known.id, local, options.runs)) && !options.allowDifferent)
        process.exitCode = 1;
    }
  });
}
