import type { FastifyRequest } from "fastify";
import type { z } from "zod";
import { newId, streamName } from "#events/ids.ts";
import { ChangeSchedule, CreateSchedule, type NewRule } from "#events/schedule.ts";
import { countSchedules, findSchedules } from "#projections/schedules/query.ts";
import type { TriggerRow } from "#projections/triggers/query.ts";
import type { WorkflowRow } from "#projections/workflows/query.ts";
import { commandFields } from "../base/commandFields.ts";
import type { Http } from "../base/deps.ts";
import { ApiError } from "../base/errors.ts";
import { createOnce, type IdempotentRequest } from "../base/idempotency.ts";
import { checkJitter, checkSchedule, type ScheduleInput } from "../base/scheduleRule.ts";
import { loadArgsSchema } from "./argsSchema.ts";
import { checkRunAs } from "./envelope.ts";
import type { ChangeTrigger } from "./scheduleShape.ts";
import type { CreateTriggerBody } from "./triggerShape.ts";
import { violationMessage } from "#events/violationMessage.ts";

const DEFAULTS = { jitter_seconds: 0, overlap: "skip", missed: "one" } as const;

const commandFor = (request: FastifyRequest, trigger_id: string) => ({
  ...commandFields(request, streamName("trigger", trigger_id), ["triggers", "schedules"]),
  requireProjected: true,
});

/** A schedule has no caller to add arguments, so they must be complete. Throws 400 `invalid_args`. */
async function checkArgs(http: Http, workflow: WorkflowRow, args: Record<string, unknown>): Promise<void> {
  const schema = await loadArgsSchema(http, workflow);
  const violation = await http.schemas.check(workflow.organization_id, schema, args);
  if (!violation) return;
  const where = `args${violation.pointer}`;
  throw new ApiError("invalid_args", violationMessage(where, violation), { param: `/${where}` });
}

async function checkCount({ db, waitUntilCurrent, settings }: Http, organization: string): Promise<void> {
  await waitUntilCurrent(["schedules"]);
  const limit = settings.ORGANIZATION_SCHEDULES;
  if ((await countSchedules(db, organization)) < limit) return;
  throw new ApiError(
    "too_many_schedules",
    `The organization already has ${limit} schedules, the maximum. Delete one first.`,
    { param: "schedule" },
  );
}

const requireEnabled = ({ enabled }: WorkflowRow): void => {
  if (!enabled)
    throw new ApiError("workflow_disabled", "The workflow is disabled or deleted; enable it before you schedule it.", {
      param: "id",
    });
};

/** Creates a schedule, or finds the one created by the same request. Returns its id. */
export async function createSchedule(
  http: Http,
  request: FastifyRequest,
  workflow: WorkflowRow,
  {
    identity,
    ...body
  }: z.infer<typeof CreateTriggerBody> & { schedule: z.infer<typeof ScheduleInput>; identity: IdempotentRequest },
): Promise<string> {
  checkRunAs(request.caller, body.run_as, "run_as");
  const jitter_seconds = body.jitter_seconds ?? DEFAULTS.jitter_seconds;
  const rule = checkSchedule(body.schedule, { min_seconds: http.settings.SCHEDULE_SECONDS, jitter_seconds });
  requireEnabled(workflow);
  await checkArgs(http, workflow, body.args ?? {});
  await checkCount(http, workflow.organization_id);
  const trigger_id = newId();
  const data = {
    trigger_id,
    workflow_id: workflow.id,
    run_as: body.run_as ?? null,
    rule,
    jitter_seconds,
    overlap: body.overlap ?? DEFAULTS.overlap,
    missed: body.missed ?? DEFAULTS.missed,
    name: body.name ?? "",
    args: JSON.stringify(body.args ?? {}),
  };
  const command = { ...commandFor(request, trigger_id), ...identity, data };
  return (await createOnce(http, CreateSchedule, command)).created_id;
}

/** The new value of a field: undefined keeps the current one, null resets it. */
const changed = <T>(value: T | null | undefined, reset: T): T | undefined => (value === null ? reset : value);

/** Reads the rule of a body, if it has one. Unchanged fields are checked too, because jitter must stay below the interval. */
async function checkTimes(
  { db, waitUntilCurrent, settings }: Http,
  trigger_id: string,
  { schedule, jitter_seconds }: z.infer<typeof ChangeTrigger>,
): Promise<NewRule | undefined> {
  if (!schedule && jitter_seconds === undefined) return undefined;
  await waitUntilCurrent(["schedules"], streamName("trigger", trigger_id));
  const stored = (await findSchedules(db, [trigger_id])).get(trigger_id)?.settings;
  const jitter = changed(jitter_seconds, DEFAULTS.jitter_seconds) ?? stored?.jitter_seconds ?? 0;
  if (schedule) return checkSchedule(schedule, { min_seconds: settings.SCHEDULE_SECONDS, jitter_seconds: jitter });
  if (stored) checkJitter(stored.rule, jitter);
  return undefined;
}

/** Throws 409 `trigger_has_no_schedule`, and the errors of creating a schedule. */
export async function changeSchedule(
  http: Http,
  request: FastifyRequest,
  { workflow, trigger }: { workflow: WorkflowRow; trigger: TriggerRow },
  body: z.infer<typeof ChangeTrigger>,
): Promise<void> {
  const { jitter_seconds, overlap, missed, name, paused } = body;
  const args = changed(body.args, {});
  if (args) await checkArgs(http, workflow, args);
  const data = {
    trigger_id: trigger.id,
    rule: await checkTimes(http, trigger.id, body),
    jitter_seconds: changed(jitter_seconds, DEFAULTS.jitter_seconds),
    overlap: changed(overlap, DEFAULTS.overlap),
    missed: changed(missed, DEFAULTS.missed),
    name: changed(name, ""),
    args: args && JSON.stringify(args),
    paused: changed(paused, false),
  };
  await http.send(ChangeSchedule, { ...commandFor(request, trigger.id), data });
}
