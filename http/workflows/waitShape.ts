import { z } from "zod";
import { Actor } from "#events/runOrigin.ts";
import { toIso } from "../base/times.ts";
import { isLive, type RunView } from "./foldRun.ts";
import { openWaits, WAIT_OUTCOMES, type WaitView } from "./foldWaits.ts";

const time = z.iso.datetime();
/** Maximum waits per answer. A run that sleeps in a loop has one per iteration. */
const MAX_WAITS = 1_000;

/** What a live run waits for. */
export const OpenWait = z.discriminatedUnion("type", [
  z.object({ type: z.literal("approval"), id: z.string(), name: z.string(), since: time, expires_at: time }),
  z.object({
    type: z.literal("step"),
    id: z.string(),
    name: z.string(),
    attempt: z.int(),
    next_attempt_at: time.nullable(),
  }),
  z.object({ type: z.literal("timer"), until: time }),
  z.object({
    type: z.literal("run"),
    run_id: z.string(),
    since: time,
    until: time.nullable().describe("The end of the timeout; null: there is none."),
  }),
  z.object({ type: z.literal("event"), name: z.string().nullable(), since: time, until: time.nullable() }),
  z.object({
    type: z.literal("agent"),
    name: z.string().nullable().describe("The id or the name that `run()` gave."),
    response_id: z.string(),
    since: time,
  }),
]);

/** A wait of a run, open or ended. */
export const RunWait = z.object({
  type: z.enum(["approval", "timer", "run", "event", "agent"]),
  key: z.string(),
  name: z.string().nullable().describe("Of the approval, the event or the agent."),
  approval_id: z.string().nullable(),
  run_id: z.string().nullable().describe("The run whose end is awaited."),
  since: time,
  steps_before: z.int().describe("Steps that had been scheduled when it began: its place among the steps."),
  until: time.nullable().describe("When it expires, fires or times out; null: never."),
  ended_at: time.nullable().describe("Null: the run still waits."),
  outcome: z.enum(WAIT_OUTCOMES).nullable().describe("What ended it. `run_ended`: the run ended first."),
  decided_by: Actor.nullable().describe("Who decided the approval."),
  event_id: z.string().nullable().describe("The event that answered."),
  agent_id: z.string().nullable().describe("The agent whose turn is awaited; null before it has started."),
  turn_id: z.string().nullable(),
  thread_id: z.string().nullable().describe("The thread of the turn."),
  reminded_at: time.nullable(),
  escalated_at: time.nullable(),
  links: z.int().describe("Links to the approval that were created."),
});

function presentOpen({ type, approval_id, name, run_id, turn_id, since, until }: WaitView): z.infer<typeof OpenWait> {
  const begun = { since: since.toISOString(), until: toIso(until) };
  if (type === "approval")
    return { type, id: approval_id!, name: name!, since: begun.since, expires_at: until!.toISOString() };
  if (type === "timer") return { type, until: until!.toISOString() };
  if (type === "agent") return { type, name, response_id: `resp_${turn_id}`, since: begun.since };
  return type === "run" ? { type, run_id: run_id!, ...begun } : { type, name, ...begun };
}

const ORDER = ["timer", "run", "event", "agent"] as const;

/** The approvals, steps, timers, runs, events and agents that a live run waits for. */
export function presentOpenWaits(run: RunView): z.infer<typeof OpenWait>[] {
  if (!isLive(run)) return [];
  const waits = openWaits(run.waits);
  const present = (wanted: WaitView["type"]) => waits.filter(({ type }) => type === wanted).map(presentOpen);
  const steps = [...run.steps.values()].filter(({ completed_at }) => completed_at === null);
  return [
    ...present("approval"),
    ...steps.map(({ id, name, attempts, next_attempt_at }) => ({
      type: "step" as const,
      id,
      name,
      attempt: attempts.length,
      next_attempt_at: toIso(next_attempt_at),
    })),
    ...ORDER.flatMap(present),
  ];
}

/** Number of sorted times up to and including a moment. */
function countUntil(times: readonly number[], moment: number): number {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle]! <= moment) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Presents the newest waits, in the order in which they began, among the steps scheduled at these times. */
export function presentWaits({ waits }: RunView, scheduled: readonly Date[]): z.infer<typeof RunWait>[] {
  const times = scheduled.map((at) => at.getTime()).toSorted((a, b) => a - b);
  return [...waits.values()].slice(-MAX_WAITS).map((wait) => ({
    ...wait,
    steps_before: countUntil(times, wait.since.getTime()),
    since: wait.since.toISOString(),
    until: toIso(wait.until),
    ended_at: toIso(wait.ended_at),
    reminded_at: toIso(wait.reminded_at),
    escalated_at: toIso(wait.escalated_at),
  }));
}
