import { idempotencyKey } from "#events/ids.ts";
import type { Effect } from "../journal.ts";
import { GUARDED_TOOL } from "../linkedWorkflows.ts";
import { grouped, type Evidence } from "./evidence.ts";
import { different, doubled, lost, type Finding } from "./finding.ts";
import { ENDS, runsOf, type RunHistory, type StepHistory } from "./runHistories.ts";

const nameOf = ({ id }: RunHistory, { name, key }: StepHistory): string => `step ${name} ${key} of run ${id}`;

/** I10: a step has one result, from an attempt that started once. */
function checkStep(run: RunHistory, step: StepHistory): Finding[] {
  const name = nameOf(run, step);
  const { attempts, ends } = step;
  return [
    ...(ends.length > 1 ? [doubled("I10", name, `has ${ends.length} results`)] : []),
    ...(attempts.every((attempt, n) => attempt === n + 1)
      ? []
      : [doubled("I10", name, `its attempts are ${attempts.join(", ")}`)]),
    ...ends
      .filter(({ attempt }) => attempt !== attempts.at(-1))
      .map(({ attempt }) =>
        different("I10", name, `its result is of attempt ${attempt}, the last is ${attempts.at(-1)}`),
      ),
  ];
}

/** Steps without outside effects. */
const INSIDE = new Set(["ask", "pure", "store"]);
/** Steps that must never run twice. */
const AT_MOST_ONCE = new Set(["once"]);

/** I10: only attempts in the log have effects, each once, under one Idempotency-Key, and all effects precede the completion of the step. */
function checkEffects(run: RunHistory, effects: Effect[]): Finding[] {
  const ofKey = grouped(effects, ({ key }) => key);
  // a retry repeats attempts of its parent
  const source = run.events[0]!.data.parent?.effects_of ?? run.id;
  const keys = new Set(run.steps.map(({ key }) => idempotencyKey(source, key)));
  const strange = [...ofKey.keys()].filter((key) => !keys.has(key));
  return [
    ...strange.map((key) => different("I10", `run ${run.id}`, `did something under the key ${key}, which no step has`)),
    ...run.steps.flatMap((step): Finding[] => {
      const done = ofKey.get(idempotencyKey(source, step.key)) ?? [];
      const name = nameOf(run, step);
      const unknown = done.filter(({ attempt }) => !step.attempts.includes(attempt));
      const twice = [...grouped(done, ({ part, attempt }) => `${part} of attempt ${attempt}`)].filter(
        ([, same]) => same.length > 1,
      );
      const completed = step.ends.some(({ ok }) => ok);
      return [
        ...unknown.map(({ attempt }) => different("I10", name, `attempt ${attempt} has effects and never began`)),
        ...twice.map(([part, same]) => doubled("I10", name, `${part} was done ${same.length} times`)),
        ...(AT_MOST_ONCE.has(step.name) && done.length > 1
          ? [doubled("I10", name, `was done ${done.length} times, which it must not`)]
          : []),
        ...(completed && done.length === 0 && !INSIDE.has(step.name) ? [lost("I10", name, "was never done")] : []),
      ];
    }),
  ];
}

/** Events that may follow the end of a run: results of steps that were running, and the settlement. */
const AFTERWARDS = new Set(["StepCompleted", "StepFailed", "StepAttemptLost", "RunSettled", "RunKept", "RunForgotten"]);

/** A run ends once, and nothing starts afterwards. */
function checkEnd(run: RunHistory): Finding[] {
  const { id, ends, events } = run;
  const [end] = ends;
  const late = end
    ? events.filter(({ position, type }) => position > end.position && !AFTERWARDS.has(type) && !(type in ENDS))
    : [];
  return [
    ...(ends.length > 1 ? [doubled("I10", `run ${id}`, `ended ${ends.length} times`)] : []),
    ...late.map(({ type }) => different("I10", `run ${id}`, `${type} after it was ${ENDS[end!.type]}`)),
  ];
}

/** A timer fires once. */
function checkTimers({ id, events }: RunHistory): Finding[] {
  const fired = grouped(
    events.filter(({ type }) => type === "TimerFired"),
    ({ data }) => String(data.key),
  );
  return [...fired]
    .filter(([, times]) => times.length > 1)
    .map(([key, times]) => doubled("I10", `timer ${key} of run ${id}`, `fired ${times.length} times`));
}

/** A step's model request is answered once, however many attempts make it. Turns of `ctx.agent` do not belong to a step. */
function checkTurns(run: RunHistory, turns: Evidence["turns"]): Finding[] {
  const requested = run.events.filter(({ type }) => type === "AgentTurnRequested");
  const ofAgents = new Set(requested.map(({ data }) => data.turn_id as string));
  const answered = turns.filter(
    ({ id, operation, end }) => operation === run.id && end === "completed" && !ofAgents.has(id),
  ).length;
  const asks = run.steps.filter(({ name }) => name === "ask");
  const completed = asks.filter(({ ends }) => ends.some(({ ok }) => ok)).length;
  return [
    ...(answered > asks.length ? [doubled("I10", `run ${run.id}`, `its model answered ${answered} times`)] : []),
    ...(answered < completed ? [lost("I10", `run ${run.id}`, "the answer of its model is not in the log")] : []),
  ];
}

export function checkSteps({ events, effects, turns }: Evidence): Finding[] {
  const ofSteps = effects.filter(({ run_id }) => run_id !== GUARDED_TOOL);
  const ofRun = grouped(ofSteps, ({ run_id }) => run_id);
  const runs = runsOf(events);
  const known = new Set(runs.map(({ id }) => id));
  return [
    ...[...ofRun.keys()]
      .filter((id) => !known.has(id))
      .map((id) => lost("I10", `run ${id}`, "has effects and is not in the log")),
    ...runs.flatMap((run) => [
      ...run.steps.flatMap((step) => checkStep(run, step)),
      ...checkEffects(run, ofRun.get(run.id) ?? []),
      ...checkEnd(run),
      ...checkTimers(run),
      ...checkTurns(run, turns),
    ]),
  ];
}
