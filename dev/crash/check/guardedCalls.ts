import type { RecordedEvent } from "#events/envelope.ts";
import type { Operation } from "../journal.ts";
import { GUARDED_TOOL } from "../linkedWorkflows.ts";
import { grouped, type Evidence } from "./evidence.ts";
import { different, doubled, lost, type Finding } from "./finding.ts";

type Decision = "approve" | "reject";
const ENDED = new Set(["ToolApprovalDecided", "ToolApprovalExpired", "ToolApprovalCancelled"]);

/** I1: an acknowledged decision is the one in the log. */
function checkDecision({ id, asked, outcome }: Operation, decisions: Map<string, Decision[]>): Finding[] {
  if (outcome !== "done") return [];
  const [made] = decisions.get(asked["approval_id"]) ?? [];
  if (!made) return [lost("I1", `tool.decide ${id}`, `nothing decides ${asked["approval_id"]} in the log`)];
  return made === asked["decision"]
    ? []
    : [different("I1", `tool.decide ${id}`, `${asked["decision"]} was acknowledged, the log has ${made}`)];
}

/** I10: a call that waits for a person acts at most once, and only if it was approved. */
function checkActs({ effects, turns, events }: Evidence): Finding[] {
  const acts = grouped(
    effects.filter(({ run_id }) => run_id === GUARDED_TOOL),
    ({ key }) => key,
  );
  const approved = new Set(
    (events as RecordedEvent<any>[])
      .filter(({ type, data }) => type === "ToolApprovalDecided" && data.decision === "approve")
      .map(({ data }) => data.turn_id),
  );
  const allowed = new Set(turns.filter(({ id }) => approved.has(id)).map(({ operation }) => operation));
  const finished = new Set(
    (events as RecordedEvent<any>[])
      .filter(({ type, data }) => type === "ToolFinished" && data.name === GUARDED_TOOL && data.status === "completed")
      .map(({ data }) => data.turn_id),
  );
  const silent = turns.filter(({ id, operation }) => finished.has(id) && !acts.has(operation));
  const missing = silent.map(({ operation }) =>
    lost("I10", `agent.ask ${operation}`, "its call ended and never acted"),
  );
  const found = [...acts].flatMap(([operation, own]): Finding[] => [
    ...(own.length > 1
      ? [doubled("I10", `agent.ask ${operation}`, `its approved call acted ${own.length} times`)]
      : []),
    ...(allowed.has(operation) ? [] : [different("I10", `agent.ask ${operation}`, "its call acted without approval")]),
  ]);
  return [...missing, ...found];
}

/** Turns of agents that wait for people. */
export function checkGuardedCalls(evidence: Evidence): Finding[] {
  const events = evidence.events as RecordedEvent<any>[];
  const ended = grouped(
    events.filter(({ type }) => ENDED.has(type)),
    ({ data }) => data.approval_id,
  );
  const started = grouped(
    events.filter(({ type }) => type === "ToolStarted"),
    ({ data }) => `${data.turn_id} ${data.round} ${data.call}`,
  );
  const decisions = new Map(
    [...ended].map(([id, own]): [string, Decision[]] => [id, own.flatMap(({ data }) => data.decision ?? [])]),
  );
  return [
    ...[...ended]
      .filter(([, own]) => own.length > 1)
      .map(([id, own]) => doubled("I10", `approval ${id}`, `ended ${own.length} times`)),
    ...[...started]
      .filter(([, own]) => own.length > 1)
      .map(([call, own]) => doubled("I10", `call ${call}`, `was started ${own.length} times`)),
    ...evidence.operations.filter(({ what }) => what === "tool.decide").flatMap((one) => checkDecision(one, decisions)),
    ...checkActs(evidence),
  ];
}
