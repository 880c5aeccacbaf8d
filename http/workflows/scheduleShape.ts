import { z } from "zod";
import { currentTime } from "#events/clock.ts";
import { dropOldest } from "#events/dropOldest.ts";
import { MISSED_RULES, OVERLAPS, type ScheduleRule } from "#events/schedule.ts";
import { timesAfter } from "#events/scheduleTimes.ts";
import { SCHEDULE_OUTCOMES, type ScheduleRow } from "#projections/schedules/query.ts";
import { refuseInexact } from "../base/exactNumbers.ts";
import { presentRule, ScheduleInput, ScheduleOutput } from "../base/scheduleRule.ts";
import type { FieldCodes } from "../base/validate.ts";
import { RunStatus } from "./runShape.ts";

/** Maximum bytes of JSON. The arguments are part of a command. */
const MAX_ARGS_BYTES = 32_768;
const MAX_JITTER_SECONDS = 3_600;
const SHOWN_TIMES = 5;

export const SCHEDULE_CODES: FieldCodes = [
  [/^(schedule|jitter_seconds|overlap|missed|paused)/, "invalid_schedule"],
  [/^args/, "invalid_args"],
];

export const scheduleFields = {
  args: refuseInexact(z.record(z.string(), z.unknown(), "must be a JSON object"))
    .refine(
      (args) => Buffer.byteLength(JSON.stringify(args)) <= MAX_ARGS_BYTES,
      `must be at most ${MAX_ARGS_BYTES} bytes`,
    )
    .nullish()
    .describe("Of a schedule: the arguments of each run."),
  jitter_seconds: z
    .int()
    .min(0)
    .max(MAX_JITTER_SECONDS)
    .nullish()
    .describe("Of a schedule: each run starts late by a random delay of at most this many seconds."),
  overlap: z
    .enum(OVERLAPS)
    .nullish()
    .describe(
      "Of a schedule: what a due time does while the previous run is live. `skip` (default) starts no run, `queue` waits for its end, `cancel` cancels it.",
    ),
  missed: z
    .enum(MISSED_RULES)
    .nullish()
    .describe(
      "Of a schedule: after an outage of the platform, start `one` run (default) for the times that were missed, one for each of them (`all`, at most the newest 100), or `none`.",
    ),
};
/** Fields left out keep their value; null resets them. */
export const ChangeTrigger = z.strictObject({
  name: z.string().trim().max(200).nullish(),
  paused: z.boolean().nullish().describe("While paused, due times start no run, and they are not made up for later."),
  schedule: ScheduleInput.optional(),
  ...scheduleFields,
});

export const Schedule = z.object({
  schedule: ScheduleOutput.nullable().describe("Null for a webhook, as are the fields that only schedules have."),
  args: z.record(z.string(), z.unknown()).nullable(),
  jitter_seconds: z.int().nullable(),
  overlap: z.enum(OVERLAPS).nullable(),
  missed: z.enum(MISSED_RULES).nullable(),
  paused: z.boolean().nullable(),
  next_times: z.array(z.iso.datetime()).nullable().describe("The next five due times, without jitter."),
  last_fired: z
    .object({
      due_at: z.iso.datetime(),
      at: z.iso.datetime(),
      outcome: z
        .enum(SCHEDULE_OUTCOMES)
        .describe("`missed`: no process could handle it in time. `refused`: see `error`."),
      run_id: z.string().nullable(),
      run_status: RunStatus.nullable(),
      error: z.object({ code: z.string(), message: z.string().nullable() }).nullable(),
    })
    .nullable()
    .describe("The last due time that was handled."),
});
type Schedule = z.infer<typeof Schedule>;

export const NO_SCHEDULE: Schedule = {
  schedule: null,
  args: null,
  jitter_seconds: null,
  overlap: null,
  missed: null,
  paused: null,
  next_times: null,
  last_fired: null,
};

/** Maximum rules whose times are cached: a page of a hundred triggers takes 40 ms to compute. */
const MAX_REMEMBERED = 1_000;
const remembered = new Map<string, Date[]>();

function nextTimes(rule: ScheduleRule): Date[] {
  const key = JSON.stringify(rule);
  const known = remembered.get(key);
  if (known && known[0]! > new Date(currentTime())) return known;
  const times = timesAfter(rule, new Date(currentTime()), SHOWN_TIMES);
  remembered.delete(key);
  if (times.length > 0) remembered.set(key, times);
  dropOldest(remembered, MAX_REMEMBERED);
  return times;
}

function presentLast(last: ScheduleRow["last"]): Schedule["last_fired"] {
  if (!last) return null;
  const { due_at, at, outcome, run_id, run_status, error } = last;
  return { due_at: due_at.toISOString(), at: at.toISOString(), outcome, run_id, run_status, error };
}

/** @param args JSON of an object. */
export function presentSchedule({ settings, paused, next_at, last }: ScheduleRow, args: string): Schedule {
  const { rule, jitter_seconds, overlap, missed } = settings;
  const times = paused || next_at === null ? [] : nextTimes(rule);
  return {
    schedule: presentRule(rule),
    args: JSON.parse(args) as Record<string, unknown>,
    jitter_seconds,
    overlap,
    missed,
    paused,
    next_times: times.map((time) => time.toISOString()),
    last_fired: presentLast(last),
  };
}
