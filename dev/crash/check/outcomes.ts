import { isDeepStrictEqual } from "node:util";
import { run as decider } from "#services/deciders/run.ts";
import { isLive, type RunState } from "#services/deciders/runState.ts";
import { hasWork } from "#services/deciders/runWork.ts";
import { CANARY } from "../topology.ts";
import type { LinkedKind } from "../linkedWorkflows.ts";
import { approvalsOf, BROKEN, isResultOf, stepsOf, type Kind } from "../workflows.ts";
import type { Evidence } from "./evidence.ts";
import { different, lost, stuck, type Finding } from "./finding.ts";
import { argsOf, ENDS, openerOf, runsOf, type RunHistory } from "./runHistories.ts";

/** Codes with which a step that is never retried may fail. */
const LOST = new Set(["step_lost", "runner_lost"]);
/** By code: lost workers after which a step or a run fails. */
const MAX_LOST: Record<string, number> = { step_lost: 6, worker_lost: 10 };

/** Whether the step or the run lost the maximum number of workers. */
function isGivenUp({ events }: RunHistory, { code, key }: { code: string; key: string | null }): boolean {
  const lost = events.filter(({ type, data }) =>
    code === "step_lost"
      ? type === "StepAttemptLost" && data.key === key
      : type === "RunTaken" && data.reason === "lost",
  );
  return lost.length >= (MAX_LOST[code] ?? Infinity);
}

/** I8: a run has ended, or waits only for a pending decision. */
function checkEnded({ id, events }: RunHistory): Finding[] {
  const state = events.reduce<RunState>((before, event) => decider.evolve(before, event as never), decider.initial);
  if (!isLive(state)) return [];
  const { steps, timers, approvals, waits } = state;
  const parked = !hasWork(state) && steps.length + Object.keys({ ...timers, ...waits }).length === 0;
  if (parked && Object.keys(approvals).length > 0) return [];
  const open = steps.map(({ name, status, attempt }) => `${name} ${status} ${attempt}`);
  return [
    stuck("I8", `run ${id}`, `is ${state.status} at ${events.at(-1)!.type}, steps: ${open.join(", ") || "none"}`),
  ];
}

const wordOf = { approve: "approved", reject: "rejected" } as const;

/** The result of a completed run consists of its steps' results and the decisions, and nothing else. */
function checkCompleted(run: RunHistory, kind: Kind, values: Map<string, string>): Finding[] {
  const name = `run ${run.id}`;
  const open = openerOf(values);
  const args = argsOf(values, run);
  const decided = approvalsOf(kind, args).map((asked) => {
    const decision = run.approvals.find((approval) => approval.name === asked)?.decisions[0]?.decision;
    return decision ? wordOf[decision] : "pending";
  });
  const wanted = stepsOf(kind, args, decided);
  const names = run.steps.map((step) => step.name);
  if (!isDeepStrictEqual(names, wanted)) return [different("I10", name, `its steps are ${names.join(", ")}`)];
  const results = run.steps.map(({ ends }) => open(ends[0]?.result));
  const wrong = run.steps.filter((step, n) => !isResultOf(step.name, args, results[n]));
  const result = open(run.ends[0]!.personal?.result);
  return [
    ...wrong.map((step) => lost("I10", name, `the step ${step.name} has a wrong result`)),
    ...(isDeepStrictEqual(result, { id: args.id, results, decided })
      ? []
      : [different("I10", name, `its result differs from its steps': ${JSON.stringify(result).slice(0, 300)}`)]),
  ];
}

const isChild = ({ events }: RunHistory): boolean => events[0]!.data.starter !== undefined;
const isContinued = ({ events }: RunHistory): boolean => events[0]!.data.parent !== undefined;
const isKind = (kind: Kind | LinkedKind): kind is Kind => kind === "sequence" || kind === "parallel";

function checkEnding(
  run: RunHistory,
  kind: Kind | LinkedKind | undefined,
  { values, operations }: Evidence,
): Finding[] {
  const [end] = run.ends;
  if (!end || !kind) return [];
  const name = `run ${run.id}`;
  switch (ENDS[end.type]) {
    case "completed":
      // inherited answers are in the parent run, and linkedRuns.ts checks runs that depend on others
      return isContinued(run) || !isKind(kind) ? [] : checkCompleted(run, kind, values);
    case "failed": {
      const { error } = end.personal ?? {};
      if (argsOf(values, run).breaks && error?.message === BROKEN) return [];
      if (end.data.step === "once" && LOST.has(end.data.code)) return [];
      if (isGivenUp(run, end.data)) return [];
      return [different("I10", name, `failed: ${end.data.code} ${error?.message}`)];
    }
    case "continued":
      return [];
    default:
      // a run is cancelled with its starter
      return isChild(run) || operations.some(({ what, asked }) => what === "run.cancel" && asked["run_id"] === run.id)
        ? []
        : [different("I10", name, "was cancelled, but nobody asked for it")];
  }
}

/** I14: nothing that a step left behind contains a secret that it read. */
const checkSecretsInEvents = ({ id, events }: RunHistory): Finding[] =>
  events
    .filter(({ personal }) => JSON.stringify(personal ?? null).includes(CANARY))
    .map(({ type }) => different("I14", `run ${id}`, `its ${type} contains a secret`));

/** The outcome of a run. */
export function checkOutcomes(evidence: Evidence): Finding[] {
  const { events, operations } = evidence;
  const kinds = new Map(
    operations.flatMap(({ what, asked, id }): [string, Kind | LinkedKind][] =>
      what === "run.start" || what === "run.hook" ? [[id, asked["kind"]]] : [],
    ),
  );
  // runs of the workflow `sequence` that a starter started or a client retried
  const kindOf = (run: RunHistory) =>
    kinds.get(run.operation) ?? (isChild(run) || isContinued(run) ? "sequence" : undefined);
  return runsOf(events).flatMap((run) => [
    ...checkEnded(run),
    ...checkEnding(run, kindOf(run), evidence),
    ...checkSecretsInEvents(run),
  ]);
}
