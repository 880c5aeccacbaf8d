import type { Decider } from "#events/decider.ts";
import type { CommandFrom } from "#events/envelope.ts";
import { streamOf } from "#events/ids.ts";
import { Rejection } from "#events/rejection.ts";
import {
  ApprovalDecided,
  ApprovalExpired,
  RunCancelled,
  RunCreated,
  RunForgotten,
  RunTaken,
  StepAttemptLost,
  TimerFired,
  type AdvanceRun,
  type CancelRun,
  type DecideApproval,
  type RunCommand,
  type RunEvent,
  type TakeRun,
} from "#events/run.ts";
import { cancelApprovals, courseFrom, endOf, failRun, type Course } from "./runCourse.ts";
import { recorded } from "./runEntries.ts";
import { evolve, hasWork, head, isEnded, isLive, type LiveRun, type RunState } from "./runState.ts";
import { ticked } from "./runTick.ts";

/** Workers that may lose a run in a row, with nothing done in between, before it is given up. */
const LOSSES = 10;

/** Parts follow each other in one commit: where the first stands on what it saw, so do the others. */
export function advance(data: CommandFrom<typeof AdvanceRun>["data"], state: RunState): RunEvent[] {
  if (!(isLive(state) || isEnded(state)) || state.epoch !== data.epoch) return [];
  const course = courseFrom(state);
  const holds = data.seen === state.version;
  for (const { at, entries, tick } of data.parts) {
    const asked = { run_id: data.run_id, at, worker: state.worker ?? "" };
    for (const entry of entries) recorded(course, entry, asked);
    if (tick && holds) ticked(course, tick, asked);
  }
  return course.events;
}

/** What was waited for and has come. */
function whatIsDue(course: Course, run_id: string, at: string): void {
  const now = Date.parse(at);
  const isDue = (time: string) => Date.parse(time) <= now;
  const { timers, approvals } = course.state as LiveRun;
  for (const [key, fires_at] of Object.entries(timers)) if (isDue(fires_at)) course.add(TimerFired.of({ run_id, key }));
  for (const [approval_id, { key, expires_at, on_expiry }] of Object.entries(approvals)) {
    if (!isDue(expires_at)) continue;
    course.add(ApprovalExpired.of({ run_id, approval_id, key, at }));
    if (on_expiry !== "fail") continue;
    const error = { message: "An approval was not decided before it expired.", line: null };
    return failRun(course, run_id, at, { code: "approval_expired", key, error });
  }
}

function lose(course: Course, run_id: string): void {
  const { steps } = course.state as LiveRun;
  for (const [key, { name, status, attempt }] of Object.entries(steps))
    if (status === "running") course.add(StepAttemptLost.of({ run_id, key, name, attempt }));
}

function take({ data, at }: CommandFrom<typeof TakeRun>, state: RunState): RunEvent[] {
  const { run_id, epoch, worker, lost } = data;
  if (!(isLive(state) || isEnded(state)) || state.epoch !== epoch) return [];
  const course = courseFrom(state);
  if (lost) lose(course, run_id);
  if (!isLive(state)) return course.events;
  if (Date.parse(state.expires_at) <= Date.parse(at)) {
    failRun(course, run_id, at, {
      code: "run_expired",
      error: { message: "The run lived as long as its workflow allows, and had not ended.", line: null },
    });
    return course.events;
  }
  if (lost && state.lost >= LOSSES) {
    failRun(course, run_id, at, {
      code: "worker_lost",
      error: { message: `The run was given up: ${LOSSES} processes in a row were lost while they ran it.`, line: null },
    });
    return course.events;
  }
  whatIsDue(course, run_id, at);
  if (!isLive(course.state)) return course.events;
  const retryDue = Object.values(state.steps).some(
    ({ retry_at }) => retry_at !== null && Date.parse(retry_at) <= Date.parse(at),
  );
  const held = hasWork(state) && state.worker !== null && !lost;
  if (!held && (hasWork(course.state) || retryDue))
    course.add(RunTaken.of({ run_id, epoch: epoch + 1, worker, reason: lost ? "lost" : "woken" }));
  return course.events;
}

const notPending = () => new Rejection("approval_not_pending", "This approval is not pending any more.");

function decideApproval(command: CommandFrom<typeof DecideApproval>, state: RunState): RunEvent[] {
  const { run_id, approval_id, decision, by, data, comment, seen = 1, parts = [] } = command.data;
  const approval = isLive(state) ? state.approvals[approval_id] : undefined;
  if (!isLive(state) || !approval || Date.parse(approval.expires_at) <= Date.parse(command.at)) throw notPending();
  // whoever works on it goes on with it; else this process does
  const lease = hasWork(state)
    ? { epoch: state.epoch, worker: state.worker }
    : { epoch: state.epoch + 1, worker: command.worker ?? null };
  const decided = ApprovalDecided.of(
    { run_id, approval_id, key: approval.key, decision, by, at: command.at, ...lease },
    { data, comment },
  );
  return [decided, ...advance({ run_id, epoch: lease.epoch, seen, parts }, evolve(state, decided))];
}

function cancel({ data, at }: CommandFrom<typeof CancelRun>, state: RunState): RunEvent[] {
  const { run_id, by, reason } = data;
  if (state.status === "absent" || state.status === "forgotten")
    throw new Rejection("run_not_found", "No run has this id.");
  if (state.status === "cancelled") return [];
  if (!isLive(state)) throw new Rejection("run_not_live", `The run is ${state.status} already.`);
  const course = courseFrom(state);
  cancelApprovals(course, run_id);
  course.add(RunCancelled.of({ ...endOf(state, run_id, at), by }, { reason }));
  return course.events;
}

const slotTaken = { code: "slot_taken", message: "Another run took this place of its workflow meanwhile." };

export const run: Decider<RunState, RunCommand, RunEvent> = {
  version: 1,
  initial: { status: "absent" },

  decide(command, state) {
    switch (command.type) {
      case "StartRun": {
        if (state.status !== "absent") throw new Rejection("run_exists", "This run exists already.");
        const { args, external_user_id, parts = [], ...data } = command.data;
        const created = RunCreated.of(
          { ...data, created_at: command.at, worker: command.worker ?? null },
          { args, external_user_id },
        );
        const { run_id } = data;
        return [created, ...advance({ run_id, epoch: 1, seen: 1, parts }, evolve(state, created))];
      }
      case "AdvanceRun":
        return advance(command.data, state);
      case "TakeRun":
        return take(command, state);
      case "DecideApproval":
        return decideApproval(command, state);
      case "CancelRun":
        return cancel(command, state);
      case "FailRun": {
        const { run_id, epoch, code, error } = command.data;
        if (!isLive(state) || state.epoch !== epoch) return [];
        const course = courseFrom(state);
        failRun(course, run_id, command.at, { code, error });
        return course.events;
      }
      case "ForgetRun":
        return isEnded(state) && Date.parse(state.forget_at) <= Date.parse(command.at)
          ? [RunForgotten.of(command.data)]
          : [];
    }
  },

  evolve,
  head,

  erases: (events) => ({
    things: events.flatMap((event) => (event.type === "RunForgotten" ? [streamOf("run", event.data.run_id)] : [])),
  }),

  claims: (events) => ({
    hold: events.flatMap((event) =>
      event.type === "RunCreated" && event.data.slot !== null
        ? [{ name: `run-slot:${event.data.slot}`, taken: slotTaken }]
        : [],
    ),
    release: events.flatMap((event) =>
      (event.type === "RunCompleted" || event.type === "RunFailed" || event.type === "RunCancelled") &&
      event.data.slot !== null
        ? [`run-slot:${event.data.slot}`]
        : [],
    ),
  }),
};
