import type { Claim, Decider } from "#events/decider.ts";
import type { EventFrom } from "#events/define.ts";
import type { CommandFrom } from "#events/envelope.ts";
import { slotClaim, startClaim } from "#events/newRun.ts";
import { Rejection } from "#events/rejection.ts";
import {
  RunCancelled,
  RunCreated,
  RunForgotten,
  RunKept,
  RunTaken,
  StepAttemptLost,
  TimerFired,
  type AdvanceRun,
  type CancelRun,
  type ForgetRun,
  type RunCommand,
  type RunEvent,
  type TakeRun,
} from "#events/run.ts";
import { chainClaim, RunSettled } from "#events/runLinks.ts";
import { DAY_MS } from "#events/units.ts";
import { eraseOn } from "./keyErasure.ts";
import { decideLinks, dueWaits, recordLink } from "./runLinks.ts";
import {
  cancelApprovals,
  dueEvent,
  endFields,
  failRun,
  startChanges,
  type DueChange,
  type RunChanges,
} from "./runChanges.ts";
import { commentOnApproval, delegateApproval } from "./approvalPeople.ts";
import { createApprovalLink, decideApproval, dueApprovals, revokeApprovalLink } from "./runApprovals.ts";
import { recordEntry } from "./runEntry.ts";
import { evolve, evolveAll, isEnded, isLive, type LiveRun, type RunState } from "./runState.ts";
import { hasWork, isRetryDue, workStatus } from "./runWork.ts";
import { applyTick } from "./runTick.ts";
import { storedRun } from "./storedRun.ts";

/** Consecutive workers lost without progress before the run fails with `worker_lost`. */
const MAX_LOST_WORKERS = 10;

/** Adds the progress in a command. Its parts are consecutive: if the first tick saw the current version, the later ones are valid, too. */
export function advanceRun(data: CommandFrom<typeof AdvanceRun>["data"], state: RunState): RunEvent[] {
  if (!(isLive(state) || isEnded(state)) || state.epoch !== data.epoch) return [];
  const changes = startChanges(state);
  const isCurrent = data.seen === state.version;
  for (const { at, links = [], entries, tick } of data.parts) {
    const context = { run_id: data.run_id, at, worker: state.worker ?? "" };
    for (const link of links) recordLink(changes, link, context);
    for (const entry of entries) recordEntry(changes, entry, context);
    if (tick && isCurrent) applyTick(changes, tick, context);
  }
  return changes.events;
}

const dueTimers = ({ timers }: LiveRun, run_id: string): DueChange[] =>
  Object.entries(timers).map(([key, time]) => dueEvent(time, TimerFired.of({ run_id, key })));

/** Applies what is due, in the order of due times: `run()` takes the first answer, which must not depend on when a process looks. */
function applyDue(changes: RunChanges, run_id: string, at: string): void {
  const state = changes.state as LiveRun;
  const due = [...dueWaits(state, run_id), ...dueTimers(state, run_id), ...dueApprovals(state, run_id, at)]
    .map(({ time, apply }) => ({ time: Date.parse(time), apply }))
    .filter(({ time }) => time <= Date.parse(at))
    .toSorted((a, b) => a.time - b.time);
  for (const { apply } of due) if (isLive(changes.state)) apply(changes);
}

function loseAttempts(changes: RunChanges, run_id: string): void {
  const { steps } = changes.state as LiveRun;
  for (const { key, name, status, attempt } of steps)
    if (status === "running") changes.add(StepAttemptLost.of({ run_id, key, name, attempt }));
}

function takeRun({ data, at }: CommandFrom<typeof TakeRun>, state: RunState): RunEvent[] {
  const { run_id, epoch, worker, lost } = data;
  if (!(isLive(state) || isEnded(state)) || state.epoch !== epoch) return [];
  const changes = startChanges(state);
  if (lost) loseAttempts(changes, run_id);
  if (!isLive(state)) return changes.events;
  if (Date.parse(state.expires_at) <= Date.parse(at)) {
    failRun(changes, run_id, at, {
      code: "run_expired",
      error: { message: "The run lived as long as its workflow allows, and had not ended.", line: null },
    });
    return changes.events;
  }
  if (lost && state.lost >= MAX_LOST_WORKERS) {
    failRun(changes, run_id, at, {
      code: "worker_lost",
      error: {
        message: `The run was given up: ${MAX_LOST_WORKERS} processes in a row were lost while they ran it.`,
        line: null,
      },
    });
    return changes.events;
  }
  applyDue(changes, run_id, at);
  if (!isLive(changes.state)) return changes.events;
  const isHeld = hasWork(state) && state.worker !== null && !lost;
  if (!isHeld && (hasWork(changes.state) || isRetryDue(state, Date.parse(at))))
    changes.add(RunTaken.of({ run_id, epoch: epoch + 1, worker, reason: lost ? "lost" : "woken" }));
  return changes.events;
}

function cancelRun({ data, at }: CommandFrom<typeof CancelRun>, state: RunState): RunEvent[] {
  const { run_id, by, reason } = data;
  if (state.status === "absent" || state.status === "forgotten")
    throw new Rejection("run_not_found", "No run has this id.");
  if (state.status === "cancelled") return [];
  if (state.status === "continued")
    throw new Rejection("run_continued", "Another run continues this one; its continued_as names it.");
  if (!isLive(state)) throw new Rejection("run_not_live", `The run is ${state.status} already.`);
  const changes = startChanges(state);
  cancelApprovals(changes, run_id);
  changes.add(RunCancelled.of({ ...endFields(state, "cancelled", run_id, at), by }, { reason }));
  return changes.events;
}

const slotTaken: Claim["rejection"] = {
  code: "slot_taken",
  message: "Another run took this concurrency slot of the workflow meanwhile.",
};

const chainTaken: Claim["rejection"] = { code: "run_exists", message: "Another run continues this chain already." };

const startTaken: Claim["rejection"] = {
  code: "slot_taken",
  message: "Another run took this start of the workflow's rate meanwhile.",
};

/** The claims of a run. A run that continues another one inherits its unreleased slot and does not count as a start. */
function heldBy({ slot, start_place, continued_from }: EventFrom<typeof RunCreated>["data"]): Claim[] {
  if (continued_from) return [{ name: chainClaim(continued_from.first_run_id), rejection: chainTaken }];
  return [
    ...(slot === null ? [] : [{ name: slotClaim(slot), rejection: slotTaken }]),
    ...(start_place === undefined ? [] : [{ name: startClaim(start_place), rejection: startTaken }]),
  ];
}

function forgetRun(command: CommandFrom<typeof ForgetRun>, state: RunState): RunEvent[] {
  if (!isEnded(state) || !mayForget(command, state)) return [];
  const { start_place } = state;
  return [RunForgotten.of({ run_id: command.data.run_id, ...(start_place !== undefined && { start_place }) })];
}

/** Interval of attempts to destroy a run that a hold covers. Each is an event, for as long as the hold stands. */
const HELD_MS = DAY_MS;

/** A run that ends in the commit that creates it need not notify its starter, which cannot wait for it yet and will look at it first. */
function settleAtOnce(events: RunEvent[], { run_id, watchers }: { run_id: string; watchers?: unknown }): RunEvent[] {
  const state = evolveAll({ status: "absent" }, events);
  if (watchers !== undefined || !isEnded(state) || !state.settling) return [];
  const { cancel, stop = [], unstarted, next } = state.settling;
  return cancel.length + stop.length + unstarted.length === 0 && !next ? [RunSettled.of({ run_id })] : [];
}

/** An ended run settles first: others may wait for its end, and its last steps may still save files. */
const mayForget = ({ at, data }: CommandFrom<typeof ForgetRun>, state: RunState): boolean =>
  isEnded(state) &&
  (data.by_rule ? state.settling === null && state.steps.length === 0 : Date.parse(state.forget_at) <= Date.parse(at));

export const run: Decider<RunState, RunCommand, RunEvent> = {
  version: 7,
  initial: { status: "absent" },

  decide(command, state) {
    switch (command.type) {
      case "StartRun": {
        if (state.status !== "absent") throw new Rejection("run_exists", "This run exists already.");
        const { args, external_user_id, headers, inherited, parts = [], ...data } = command.data;
        const created = RunCreated.of(
          { ...data, created_at: command.at, worker: command.worker ?? null },
          { args, external_user_id, ...(headers && { headers }), ...(inherited && { inherited }) },
        );
        const { run_id } = data;
        const events = [created, ...advanceRun({ run_id, epoch: 1, seen: 1, parts }, evolve(state, created))];
        return [...events, ...settleAtOnce(events, data)];
      }
      case "AdvanceRun":
        return advanceRun(command.data, state);
      case "TakeRun":
        return takeRun(command, state);
      case "DecideApproval":
        return decideApproval(command, state, advanceRun);
      case "CreateApprovalLink":
        return createApprovalLink(command, state);
      case "RevokeApprovalLink":
        return revokeApprovalLink(command, state);
      case "DelegateApproval":
        return delegateApproval(command, state);
      case "CommentOnApproval":
        return commentOnApproval(command, state);
      case "CancelRun":
        return cancelRun(command, state);
      case "FailRun": {
        const { run_id, epoch, code, error } = command.data;
        if (!isLive(state) || state.epoch !== epoch) return [];
        const changes = startChanges(state);
        failRun(changes, run_id, command.at, { code, error });
        return changes.events;
      }
      case "ForgetRun":
        return forgetRun(command, state);
      case "KeepRun": {
        const forget_at = new Date(Date.parse(command.at) + HELD_MS).toISOString();
        return isEnded(state) ? [RunKept.of({ run_id: command.data.run_id, forget_at })] : [];
      }
      default:
        return decideLinks(command, state, advanceRun);
    }
  },

  evolve,
  workStatus,
  stored: storedRun,

  erases: eraseOn("RunForgotten"),

  claims: (events) => ({
    hold: events.flatMap((event) => (event.type === "RunCreated" ? heldBy(event.data) : [])),
    release: events.flatMap((event) => {
      if (event.type === "RunForgotten")
        return event.data.start_place === undefined ? [] : [startClaim(event.data.start_place)];
      // the first run of a chain holds no claim on it
      if (event.type === "RunContinued" && event.data.first_run_id !== event.data.run_id)
        return [chainClaim(event.data.first_run_id)];
      return (event.type === "RunCompleted" || event.type === "RunFailed" || event.type === "RunCancelled") &&
        event.data.slot !== null
        ? [slotClaim(event.data.slot)]
        : [];
    }),
  }),
};
