import { isDeepStrictEqual } from "node:util";
import type { CommandFrom } from "#events/envelope.ts";
import { Rejection } from "#events/rejection.ts";
import type { AdvanceRun, RunEvent } from "#events/run.ts";
import {
  AgentTurnPending,
  AgentTurnRequested,
  AgentTurnStarted,
  ChildRunRequested,
  ChildRunStarted,
  MessageWaitStarted,
  RunSettled,
  RunWaitRegistered,
  RunWaitStarted,
  RunWatched,
  WaitAnswered,
  WaitTimedOut,
  type RunLinkCommand,
} from "#events/runLinks.ts";
import type { LinkEntry, StoredValue, TickResult } from "#events/runParts.ts";
import { dueEvent, failRun, startChanges, type DueChange, type RunChanges } from "./runChanges.ts";
import type { ChangeContext } from "./runEntry.ts";
import { toWatcher, withoutWatchers } from "./runLinkState.ts";
import { evolveAll, isEnded, isLive, type LiveRun, type RunState } from "./runState.ts";
import { hasWork } from "./runWork.ts";

/** Maximum open waits, timers and approvals of a run: they may end together, and each is an event of one commit, on which others wait. */
const MAX_WAITS = 1_000;
/** Maximum child runs of a run. */
const MAX_CHILDREN = 1_000;
/** Maximum runs that wait for the end of one run. */
const MAX_WATCHERS = 100;

const countOpen = ({ waits, timers, approvals }: LiveRun): number =>
  [waits, timers, approvals].reduce((sum, record) => sum + Object.keys(record).length, 0);
const countAdded = ({ runWaits, messageWaits, agentTurns, timers, approvals }: TickResult): number =>
  [runWaits, messageWaits, agentTurns, timers, approvals].reduce((sum, added) => sum + added.length, 0);

/** Adds the child runs and waits that `run()` asks for now. False if the run fails because of its waits, timers or approvals. */
export function applyLinks(
  changes: RunChanges,
  tick: TickResult,
  { run_id, at }: { run_id: string; at: string },
): boolean {
  const live = changes.state as LiveRun;
  const { childCount, project_id } = live;
  const added = countAdded(tick);
  if (added > 0 && countOpen(live) + added > MAX_WAITS) {
    const message = `The run waits for more than ${MAX_WAITS} timers, approvals, runs, agents and events at once.`;
    failRun(changes, run_id, at, { code: "too_many_waits", error: { message, line: null } });
    return false;
  }
  if (childCount + tick.children.length > MAX_CHILDREN) {
    const message = `The run starts more than ${MAX_CHILDREN} child runs.`;
    failRun(changes, run_id, at, { code: "too_many_child_runs", error: { message, line: null } });
    return false;
  }
  for (const { key, child_run_id, on_parent_end, workflow, args } of tick.children)
    changes.add(ChildRunRequested.of({ run_id, key, child_run_id, on_parent_end }, { workflow, args }));
  for (const wait of tick.runWaits) changes.add(RunWaitStarted.of({ run_id, ...wait }));
  for (const { key, name, match, expires_at } of tick.messageWaits)
    changes.add(MessageWaitStarted.of({ run_id, key, project_id, expires_at }, { name, match }));
  for (const { agent, request, ...turn } of tick.agentTurns)
    changes.add(AgentTurnRequested.of({ run_id, ...turn }, { agent, request }));
  return true;
}

/** The timeouts of waits. */
export const dueWaits = ({ waits }: LiveRun, run_id: string): DueChange[] =>
  Object.entries(waits).flatMap(([key, { expires_at: time }]) =>
    time === null ? [] : dueEvent(time, WaitTimedOut.of({ run_id, key })),
  );

type RefuseCallCommand = Extract<RunLinkCommand, { type: "RefuseCall" }>;

/** Fails a run because one of its calls was refused. */
function refuseCall({ data, at }: RefuseCallCommand, state: LiveRun): RunEvent[] {
  const { run_id, key, refusal, line = null, column = null } = data;
  const changes = startChanges(state);
  const error = { message: refusal.message, line, ...(column !== null && { column }) };
  failRun(changes, run_id, at, { code: refusal.code, key, error });
  return changes.events;
}

function watchRun({ data }: Extract<RunLinkCommand, { type: "WatchRun" }>, state: RunState): RunEvent[] {
  if (state.status === "absent" || state.status === "forgotten")
    throw new Rejection("run_not_found", "No run has this id.");
  const watcher = toWatcher(data);
  if (!isLive(state) || state.watchers.some((one) => isDeepStrictEqual(one, watcher))) return [];
  if (withoutWatchers(state.watchers, data.ended).length >= MAX_WATCHERS)
    throw new Rejection("too_many_watchers", `${MAX_WATCHERS} runs wait for this run already, which is the limit.`);
  return [RunWatched.of(data)];
}

/** The worker that holds the run continues it. If there is none, this process takes it. */
const leaseFor = ({ worker }: { worker?: string | null | undefined }, state: LiveRun) =>
  hasWork(state) ? { epoch: state.epoch, worker: state.worker } : { epoch: state.epoch + 1, worker: worker ?? null };

type Advance = (data: CommandFrom<typeof AdvanceRun>["data"], state: RunState) => RunEvent[];

/** Answers to waits, and the worker's progress after them. */
function withProgress(
  answers: ReturnType<typeof WaitAnswered.of>[],
  { run_id, seen = 1, parts = [] }: Extract<RunLinkCommand, { type: "DeliverMessage" | "AnswerRunWaits" }>["data"],
  state: LiveRun,
  advance: Advance,
): RunEvent[] {
  const epoch = answers[0]?.data.epoch;
  if (epoch === undefined) return [];
  return [...answers, ...advance({ run_id, epoch, seen, parts }, evolveAll(state, answers))];
}

/** Whether a wait accepts a message: not if it has ended or its timeout has passed unrecorded. */
export function acceptsMessage(state: RunState, key: string, now: number): boolean {
  const wait = isLive(state) ? state.waits[key] : undefined;
  if (!wait || wait.awaited_run_id !== null || wait.turn) return false;
  return wait.expires_at === null || Date.parse(wait.expires_at) > now;
}

function deliverMessage(command: Extract<RunLinkCommand, { type: "DeliverMessage" }>, state: LiveRun) {
  const { run_id, key, message_id, answer } = command.data;
  if (!acceptsMessage(state, key, Date.parse(command.at))) return [];
  return [WaitAnswered.of({ run_id, key, message_id, ...leaseFor(command, state) }, { answer })];
}

interface RunAnswer {
  run_id: string;
  awaited_run_id: string;
  answer: StoredValue;
}

function answerRunWaits({ run_id, awaited_run_id, answer }: RunAnswer, worker: string | undefined, state: LiveRun) {
  const answered = Object.entries(state.waits).filter(([, wait]) => wait.awaited_run_id === awaited_run_id);
  const lease = leaseFor({ worker }, state);
  return answered.map(([key]) => WaitAnswered.of({ run_id, key, ...lease }, { answer }));
}

function answerAgentTurn(command: Extract<RunLinkCommand, { type: "AnswerAgentTurn" }>, state: LiveRun): RunEvent[] {
  const { run_id, turn_id, answer } = command.data;
  const answered = Object.entries(state.waits).filter(([, { turn }]) => turn?.turn_id === turn_id);
  const lease = leaseFor(command, state);
  return answered.map(([key]) => WaitAnswered.of({ run_id, key, ...lease }, { answer }));
}

function recordAgentTurn({ data }: Extract<RunLinkCommand, { type: "RecordAgentTurn" }>, state: LiveRun): RunEvent[] {
  const { run_id, key, agent_id, look_at } = data;
  const wait = state.waits[key];
  if (!wait?.turn || wait.isRegistered !== (agent_id === undefined)) return [];
  if (agent_id === undefined) return [AgentTurnPending.of({ run_id, key, look_at })];
  return [AgentTurnStarted.of({ run_id, key, ...wait.turn, agent_id, look_at })];
}

/** Fails a run because its start of a child run, or its wait, was refused. */
function refuseOpenCall(command: RefuseCallCommand, state: LiveRun): RunEvent[] {
  const { key } = command.data;
  const isRequested = state.children.some((one) => one.key === key && one.status === "requested");
  const isOpen = isRequested || state.waits[key]?.isRegistered === false;
  return isOpen ? refuseCall(command, state) : [];
}

/** Adds the events of an entry. Ignores entries that no longer match the run's state. */
export function recordLink(changes: RunChanges, link: LinkEntry, { run_id, worker }: ChangeContext): void {
  const { state } = changes;
  if (!isLive(state)) return;
  switch (link.type) {
    case "child_started": {
      const child = state.children.find(({ key }) => key === link.key);
      if (child?.status === "requested")
        changes.add(ChildRunStarted.of({ run_id, key: link.key, child_run_id: child.run_id }));
      return;
    }
    case "wait_registered":
      if (state.waits[link.key]?.isRegistered === false) changes.add(RunWaitRegistered.of({ run_id, key: link.key }));
      return;
    case "wait_answered":
      changes.add(...answerRunWaits({ run_id, ...link }, worker, state));
  }
}

/** Decides a command about other runs. */
export function decideLinks(command: RunLinkCommand, state: RunState, advance: Advance): RunEvent[] {
  switch (command.type) {
    case "WatchRun":
      return watchRun(command, state);
    case "SettleRun":
      return isEnded(state) && state.settling ? [RunSettled.of(command.data)] : [];
    case "RefuseCall":
      return isLive(state) ? refuseOpenCall(command, state) : [];
    case "DeliverMessage":
      return isLive(state) ? withProgress(deliverMessage(command, state), command.data, state, advance) : [];
    case "AnswerAgentTurn":
      return isLive(state) ? answerAgentTurn(command, state) : [];
    case "RecordAgentTurn":
      return isLive(state) ? recordAgentTurn(command, state) : [];
    case "AnswerRunWaits": {
      const { data, worker } = command;
      return isLive(state) ? withProgress(answerRunWaits(data, worker, state), data, state, advance) : [];
    }
  }
}
