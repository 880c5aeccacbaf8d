import { isDeepStrictEqual } from "node:util";
import type { LinkedKind } from "../linkedWorkflows.ts";
import { grouped, type Evidence } from "./evidence.ts";
import { different, doubled, lost, stuck, type Finding } from "./finding.ts";
import { ENDS, findErased, openerOf, runsOf, type RunHistory } from "./runHistories.ts";

const nameOf = ({ id }: RunHistory): string => `run ${id}`;
const of = ({ events }: RunHistory, type: string) => events.filter((event) => event.type === type);
const endOf = (run: RunHistory | undefined) => run?.ends[0] && ENDS[run.ends[0].type];

/** I10: a child run is started once, and if it ends with its starter, it has ended when the starter is settled. */
function checkChildren(run: RunHistory, runs: Map<string, RunHistory>, started: RunHistory[]): Finding[] {
  const requested = of(run, "ChildRunRequested").map(({ data }) => data);
  const [settled] = of(run, "RunSettled");
  const isTaken = endOf(run) === "failed" || endOf(run) === "cancelled";
  const strange = started.filter(({ id }) => !requested.some(({ child_run_id }) => child_run_id === id));
  return [
    ...strange.map(({ id }) => doubled("I10", nameOf(run), `started the run ${id}, which no call of it has asked for`)),
    ...requested.flatMap(({ child_run_id, on_parent_end }): Finding[] => {
      const child = runs.get(child_run_id);
      if (!child) return endOf(run) === "completed" ? [lost("I10", nameOf(run), `has no child ${child_run_id}`)] : [];
      const created = of(child, "RunCreated").length;
      const end = child.ends[0]?.position ?? Infinity;
      return [
        ...(created === 1 ? [] : [doubled("I10", nameOf(child), `was created ${created} times`)]),
        ...(isTaken && settled && on_parent_end === "cancel" && end > settled.position
          ? [different("I10", nameOf(child), `went on after its starter ${run.id} was settled`)]
          : []),
      ];
    }),
  ];
}

/** I10: a wait is answered once. I8: the watchers of an ended run are notified. */
function checkWaits(run: RunHistory): Finding[] {
  const answers = grouped(
    run.events.filter(({ type }) => type === "WaitAnswered" || type === "WaitTimedOut"),
    ({ data }) => String(data.key),
  );
  const settled = of(run, "RunSettled").length;
  const wanted = run.ends[0]?.data.settles || run.ends[0]?.type === "RunContinued" ? 1 : 0;
  return [
    ...[...answers]
      .filter(([, own]) => own.length > 1)
      .map(([key, own]) => doubled("I10", nameOf(run), `its wait ${key} was answered ${own.length} times`)),
    ...(settled < wanted ? [stuck("I8", nameOf(run), "has ended, and its end is not settled")] : []),
    ...(settled > wanted ? [doubled("I10", nameOf(run), `was settled ${settled} times`)] : []),
  ];
}

/** I10: a turn that a run asked an agent for is started once. */
const checkAgentTurns = (run: RunHistory, turns: Map<string, unknown[]>): Finding[] =>
  of(run, "AgentTurnStarted").flatMap(({ data: { turn_id } }) => {
    const count = turns.get(turn_id)?.length ?? 0;
    if (count === 1) return [];
    return [
      count === 0
        ? lost("I10", nameOf(run), `has no turn ${turn_id}`)
        : doubled("I10", nameOf(run), `started the turn ${turn_id} ${count} times`),
    ];
  });

/** The expected result of a linked workflow's run, according to the log. */
function resultOf(
  kind: LinkedKind,
  run: RunHistory,
  { runs, values, sent }: { runs: Map<string, RunHistory>; values: Evidence["values"]; sent: Map<string, object> },
): object {
  const open = openerOf(values);
  const { id } = open(run.args) as { id: string };
  if (kind === "starter") {
    const children = of(run, "ChildRunRequested").map(({ data: { child_run_id: run_id } }) => {
      const child = runs.get(run_id);
      return { run_id, status: endOf(child), result: open(child?.ends[0]?.personal?.result) ?? null };
    });
    return { id, children };
  }
  if (kind === "voted") {
    const votes = of(run, "ApprovalVoted").map(({ data: { by, decision, files } }) => ({
      by: by.id,
      decision,
      ...(files && { files }),
    }));
    const [decided] = of(run, "ApprovalDecided");
    return { id, status: decided?.data.decision === "approve" ? "approved" : "rejected", votes };
  }
  if (kind === "asking") return { id, answers: of(run, "WaitAnswered").map(({ personal }) => open(personal?.answer)) };
  const [answered] = of(run, "WaitAnswered");
  if (!answered) return { id, event: { status: "timed_out" } };
  const { message_id } = answered.data;
  return { id, event: { status: "received", event_id: message_id, data: sent.get(message_id) } };
}

/** I10: the result of a run that depends on others matches what the log says about them. */
function checkResult(kind: LinkedKind | undefined, run: RunHistory, known: Parameters<typeof resultOf>[2]): Finding[] {
  if (!kind || endOf(run) !== "completed") return [];
  const open = openerOf(known.values);
  const stored = run.ends[0]!.personal?.result;
  const erased = findErased(nameOf(run), [run.args, stored], open);
  if (erased.length > 0) return erased;
  const result = open(stored) as Record<string, any>;
  const wanted = resultOf(kind, run, known) as Record<string, any>;
  // if its sender got no answer, the event is unknown
  if (kind === "listener" && wanted["event"].status === "received" && !wanted["event"].data) return [];
  const shown =
    kind === "listener" && result["event"].status === "timed_out"
      ? { ...result, event: { status: "timed_out" } }
      : result;
  return isDeepStrictEqual(shown, wanted)
    ? []
    : [
        different(
          "I10",
          nameOf(run),
          `its result is ${JSON.stringify(result)}, the log says ${JSON.stringify(wanted)}`,
        ),
      ];
}

/** Runs that start runs, wait for runs or events, or take votes. */
export function checkLinkedRuns({ operations, events, values }: Evidence): Finding[] {
  const all = runsOf(events);
  const runs = new Map(all.map((run) => [run.id, run]));
  const started = grouped(
    all.filter(({ events: [created] }) => created!.data.starter),
    ({ events: [created] }) => created!.data.starter.run_id,
  );
  const kinds = new Map(
    operations.flatMap(({ what, asked, got }): [string, LinkedKind][] =>
      what === "run.start" && got["run_id"] ? [[got["run_id"], asked["kind"]]] : [],
    ),
  );
  const sent = new Map(
    operations.flatMap(({ what, asked, got }): [string, object][] =>
      what === "event.send" && got["message_id"] ? [[got["message_id"], asked["data"]]] : [],
    ),
  );
  const turns = grouped(
    events.filter(({ type }) => type === "TurnStarted"),
    ({ data }) => String((data as { turn_id: string }).turn_id),
  );
  const isLinked = (kind: string | undefined): kind is LinkedKind =>
    kind === "starter" || kind === "listener" || kind === "voted" || kind === "asking";
  return all.flatMap((run) => {
    const kind = kinds.get(run.id);
    return [
      ...checkChildren(run, runs, started.get(run.id) ?? []),
      ...checkWaits(run),
      ...checkAgentTurns(run, turns),
      ...checkResult(isLinked(kind) ? kind : undefined, run, { runs, values, sent }),
    ];
  });
}
