import { Rejection } from "#events/rejection.ts";
import type { RunEvent } from "#events/run.ts";
import {
  ChildRunRequested,
  ChildRunStarted,
  RunSettled,
  RunWaitRegistered,
  RunWaitStarted,
  RunWatched,
  WaitAnswered,
  WaitTimedOut,
  type Refusal,
  type RunLinkCommand,
} from "#events/runLinks.ts";
import type { TickResult } from "#events/runParts.ts";
import { failRun, startChanges, type RunChanges } from "./runChanges.ts";
import { hasWork, isEnded, isLive, type LiveRun, type RunState } from "./runState.ts";

/** Child runs that one run may start. */
const MAX_CHILDREN = 1_000;
/** Runs that may wait for the end of one run. */
const MAX_WATCHERS = 100;

/** Adds the child runs and the waits for runs that `run()` asks for now. False when the run fails because of them. */
export function applyLinks(
  changes: RunChanges,
  tick: TickResult,
  { run_id, at }: { run_id: string; at: string },
): boolean {
  const { childCount } = changes.state as LiveRun;
  if (childCount + tick.children.length > MAX_CHILDREN) {
    const message = `The run starts more than ${MAX_CHILDREN} child runs.`;
    failRun(changes, run_id, at, { code: "too_many_child_runs", error: { message, line: null } });
    return false;
  }
  for (const { key, child_run_id, on_parent_end, workflow, args } of tick.children)
    changes.add(ChildRunRequested.of({ run_id, key, child_run_id, on_parent_end }, { workflow, args }));
  for (const wait of tick.runWaits) changes.add(RunWaitStarted.of({ run_id, ...wait }));
  return true;
}

/** Ends the waits whose time is over. */
export function timeOutWaits(changes: RunChanges, run_id: string, now: number): void {
  for (const [key, { expires_at }] of Object.entries((changes.state as LiveRun).runWaits))
    if (expires_at !== null && Date.parse(expires_at) <= now) changes.add(WaitTimedOut.of({ run_id, key }));
}

/** Fails a run because one of its calls was refused. */
function refuseCall(state: LiveRun, run_id: string, at: string, key: string, { code, message }: Refusal): RunEvent[] {
  const changes = startChanges(state);
  failRun(changes, run_id, at, { code, key, error: { message, line: null } });
  return changes.events;
}

function watchRun({ data }: Extract<RunLinkCommand, { type: "WatchRun" }>, state: RunState): RunEvent[] {
  if (state.status === "absent" || state.status === "forgotten")
    throw new Rejection("run_not_found", "No run has this id.");
  if (!isLive(state) || state.watchers.includes(data.watcher_id)) return [];
  if (state.watchers.length >= MAX_WATCHERS)
    throw new Rejection("too_many_watchers", `${MAX_WATCHERS} runs wait for this run already, which is the limit.`);
  return [RunWatched.of(data)];
}

function answerRunWaits(command: Extract<RunLinkCommand, { type: "AnswerRunWaits" }>, state: LiveRun): RunEvent[] {
  const { run_id, awaited_run_id, answer } = command.data;
  const answered = Object.entries(state.runWaits).filter(([, wait]) => wait.awaited_run_id === awaited_run_id);
  // The worker that holds the run continues it. If none does, this process takes it.
  const lease = hasWork(state)
    ? { epoch: state.epoch, worker: state.worker }
    : { epoch: state.epoch + 1, worker: command.worker ?? null };
  return answered.map(([key]) => WaitAnswered.of({ run_id, key, ...lease }, { answer }));
}

function recordChildRun({ data, at }: Extract<RunLinkCommand, { type: "RecordChildRun" }>, state: LiveRun): RunEvent[] {
  const { run_id, key, refusal } = data;
  const child = state.children.find((one) => one.key === key);
  if (child?.status !== "requested") return [];
  if (refusal) return refuseCall(state, run_id, at, key, refusal);
  return [ChildRunStarted.of({ run_id, key, child_run_id: child.run_id })];
}

function recordWatch({ data, at }: Extract<RunLinkCommand, { type: "RecordWatch" }>, state: LiveRun): RunEvent[] {
  const { run_id, key, refusal } = data;
  const wait = state.runWaits[key];
  if (!wait || wait.isRegistered) return [];
  return refusal ? refuseCall(state, run_id, at, key, refusal) : [RunWaitRegistered.of({ run_id, key })];
}

/** What a command about other runs does to a run. */
export function decideLinks(command: RunLinkCommand, state: RunState): RunEvent[] {
  switch (command.type) {
    case "WatchRun":
      return watchRun(command, state);
    case "SettleRun":
      return isEnded(state) && state.settling ? [RunSettled.of(command.data)] : [];
    case "RecordChildRun":
      return isLive(state) ? recordChildRun(command, state) : [];
    case "RecordWatch":
      return isLive(state) ? recordWatch(command, state) : [];
    case "AnswerRunWaits":
      return isLive(state) ? answerRunWaits(command, state) : [];
  }
}
