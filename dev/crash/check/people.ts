import type { Effect, Operation } from "../journal.ts";
import { grouped, type Evidence } from "./evidence.ts";
import { different, doubled, lost, type Finding } from "./finding.ts";
import { ENDS, runsOf, type ApprovalHistory, type RunHistory } from "./runHistories.ts";

/** The answer to a decision matches the log. */
function checkDecision(operation: Operation, approval: ApprovalHistory | undefined): Finding[] {
  const { asked, outcome, code } = operation;
  if (!approval) return [];
  const [made] = approval.decisions;
  if (outcome === "done" && !made) return [lost("I1", operation, `nothing decides ${approval.id} in the log`)];
  if (outcome === "done" && made!.decision !== asked["decision"])
    return [different("I1", operation, `${asked["decision"]} was acknowledged, the log has ${made!.decision}`)];
  if (outcome === "refused" && code === "approval_not_pending" && !made && !approval.over)
    return [different("I2", operation, `${approval.id} was refused as not pending, and is`)];
  return [];
}

/** An approval read after its decision was acknowledged is not pending. */
function checkShown(read: Operation, decisions: Operation[]): Finding[] {
  const shown = (read.got["approvals"] ?? []) as { id: string; status: string }[];
  return shown
    .filter(({ status }) => status === "pending")
    .filter(({ id }) =>
      decisions.some(
        ({ asked, outcome, end }) => asked["approval_id"] === id && outcome === "done" && end < read.start,
      ),
    )
    .map(({ id }) => different("I16", read, `shows ${id} as pending after it was decided`));
}

const SHOWN_AS = { approve: "approved", reject: "rejected" } as const;

/** An approval is shown with the decision in the log, and without one while the log has none. */
function checkDecided(read: Operation, approvals: Map<string, ApprovalHistory>): Finding[] {
  const shown = (read.got["approvals"] ?? []) as { id: string; status: string }[];
  return shown.flatMap(({ id, status }): Finding[] => {
    const decision = approvals.get(id)?.decisions[0]?.decision;
    const isWrong = (status === "approved" || status === "rejected") && status !== (decision && SHOWN_AS[decision]);
    return isWrong ? [different("I16", read, `shows ${id} as ${status}, the log has ${decision ?? "none"}`)] : [];
  });
}

function checkCancel(operation: Operation, run: RunHistory | undefined): Finding[] {
  const { outcome, code } = operation;
  if (!run) return [];
  const end = run.ends[0] && ENDS[run.ends[0].type];
  if (outcome === "done" && end !== "cancelled")
    return [lost("I1", operation, `the cancel of ${run.id} was acknowledged, it is ${end ?? "live"}`)];
  if (outcome === "refused" && code === "run_not_live" && (end === undefined || end === "cancelled"))
    return [different("I2", operation, `${run.id} was refused as not live, and is ${end ?? "live"}`)];
  return [];
}

/** A cancelled run reads no secret: a step that asks after the acknowledgement gets none. */
function checkSecrets(cancel: Operation, effects: Effect[]): Finding[] {
  const before = effects.filter(({ part }) => part === "before");
  return effects
    .filter(({ has_secret, key, attempt }) => {
      const asks = before.find((one) => one.key === key && one.attempt === attempt);
      return has_secret && asks !== undefined && asks.end > cancel.end;
    })
    .map(({ key, attempt }) =>
      different("I16", cancel, `attempt ${attempt} of the step ${key} got a secret afterwards`),
    );
}

/** Decisions and cancels by people. */
export function checkPeople({ operations, events, effects }: Evidence): Finding[] {
  const runs = new Map(runsOf(events).map((run) => [run.id, run]));
  const approvals = new Map([...runs.values()].flatMap((run) => run.approvals.map((one) => [one.id, one] as const)));
  const ofRun = grouped(effects, ({ run_id }) => run_id);
  const of = (what: Operation["what"]) => operations.filter((operation) => operation.what === what);
  const decisions = of("run.decide");
  return [
    ...[...approvals.values()]
      .filter(({ decisions: made }) => made.length > 1)
      .map(({ id, decisions: made }) => doubled("I10", `approval ${id}`, `was decided ${made.length} times`)),
    ...decisions.flatMap((operation) => checkDecision(operation, approvals.get(operation.asked["approval_id"]))),
    ...of("run.approvals").flatMap((read) => [...checkShown(read, decisions), ...checkDecided(read, approvals)]),
    ...of("run.cancel").flatMap((operation) => [
      ...checkCancel(operation, runs.get(operation.asked["run_id"])),
      ...(operation.outcome === "done" ? checkSecrets(operation, ofRun.get(operation.asked["run_id"]) ?? []) : []),
    ]),
  ];
}
