import { isDeepStrictEqual } from "node:util";
import type { Operation } from "../journal.ts";
import { grouped, type Evidence } from "./evidence.ts";
import { different, lost, type Finding } from "./finding.ts";
import { ENDS, openerOf, runsOf, type RunHistory } from "./runHistories.ts";

const FINAL = new Set(Object.values(ENDS) as string[]);
/** Reads that were made when all was quiet. */
const isLast = ({ id }: Operation): boolean => /-end-\d+$/.test(id);

const statusOf = (run: RunHistory): string =>
  run.ends[0] ? ENDS[run.ends[0].type]! : run.events.some(({ type }) => type === "RunStarted") ? "running" : "pending";

/** I16: a run reads as the log has it, and shows everything that ended before the read started. */
function checkRead(read: Operation, run: RunHistory, before: Operation[], values: Map<string, string>): Finding[] {
  const { status, result, error, steps } = read.got;
  const ended = before.find((one) => one.end < read.start && FINAL.has(one.got["status"]));
  const cancelled = before.find((one) => one.what === "run.cancel" && one.outcome === "done" && one.end < read.start);
  const say = (what: string) => different("I16", read, what);
  const findings: Finding[] = [];
  if (FINAL.has(status) && status !== statusOf(run)) findings.push(say(`shows ${status}, the log ${statusOf(run)}`));
  if (ended && status !== ended.got["status"])
    findings.push(say(`shows ${status} after it was shown ${ended.got["status"]}`));
  if (cancelled && status !== "cancelled") findings.push(say(`shows ${status} after the cancel was answered`));
  if (isLast(read) && status !== statusOf(run)) findings.push(say(`shows ${status}, the log ${statusOf(run)}`));
  if (status === "completed" && !isDeepStrictEqual(result, openerOf(values)(run.ends[0]?.personal?.result)))
    findings.push(say("shows another result than the log"));
  if (status === "failed" && error !== run.ends[0]?.personal?.error.message)
    findings.push(say("shows another error than the log"));
  if (status !== "completed" && result !== null) findings.push(say(`shows a result of a run that is ${status}`));
  const keys = run.steps.map(({ key }) => key);
  const shown = (steps as { key: string }[] | undefined)?.map(({ key }) => key);
  if (shown && !isDeepStrictEqual(shown, keys.slice(0, isLast(read) ? keys.length : shown.length)))
    findings.push(say("shows other steps than the log"));
  return findings;
}

const SHOWN: Record<string, string> = {
  RunCreated: "run.created",
  RunStarted: "run.started",
  RunWarned: "run.warning",
  RunLogged: "run.log",
  RunCompleted: "run.completed",
  RunFailed: "run.failed",
  RunCancelled: "run.cancelled",
  RunContinued: "run.continued",
  StepsScheduled: "step.scheduled",
  StepStarted: "step.started",
  StepCompleted: "step.completed",
  StepAttemptFailed: "step.retrying",
  StepAttemptLost: "step.lost",
  StepFailed: "step.failed",
  TimerStarted: "timer.started",
  TimerFired: "timer.fired",
  ApprovalRequested: "approval.requested",
  ApprovalDecided: "approval.decided",
  ApprovalExpired: "approval.expired",
  ApprovalCancelled: "approval.cancelled",
};

/** I11: a stream delivers the events of the log in order from its starting point. */
function checkStream(read: Operation, run: RunHistory): Finding[] {
  const frames = read.got["frames"] as [number, string][];
  const last = frames.at(-1)?.[0] ?? 0;
  const wanted = run.events
    .filter(({ version, type }) => version > read.asked["after"] && version <= last && SHOWN[type])
    .map(({ version, type }) => [version, SHOWN[type]]);
  return isDeepStrictEqual(frames, wanted)
    ? []
    : [different("I11", read, `got ${JSON.stringify(frames)} for ${JSON.stringify(wanted)}`)];
}

export function checkRunReads({ operations, events, values }: Evidence): Finding[] {
  const runs = new Map(runsOf(events).map((run) => [run.id, run]));
  const mine = operations.filter(({ what, asked }) => what.startsWith("run.") && asked["run_id"] !== undefined);
  return [...grouped(mine, ({ asked }) => asked["run_id"])].flatMap(([id, own]) => {
    const run = runs.get(id);
    if (!run) return [];
    return own.flatMap((read): Finding[] => {
      const isRead = ["run.poll", "run.read", "run.follow", "run.approvals"].includes(read.what);
      if (isRead && read.outcome === "refused") return [lost("I16", read, `${read.code} for the run ${id}`)];
      if (read.outcome !== "done") return [];
      if (read.what === "run.follow") return checkStream(read, run);
      return read.what === "run.poll" || read.what === "run.read" ? checkRead(read, run, own, values) : [];
    });
  });
}
