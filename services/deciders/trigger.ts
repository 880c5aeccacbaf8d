import type { Decider } from "#events/decider.ts";
import { streamName } from "#events/ids.ts";
import { Rejection } from "#events/rejection.ts";
import type { ScheduleCommand, ScheduleEvent } from "#events/schedule.ts";
import {
  SigningSecretSet,
  TriggerCreated,
  TriggerDeleted,
  TriggerDisabled,
  TriggerRotated,
  type TriggerCommand,
  type TriggerEvent,
} from "#events/trigger.ts";
import { createSchedule, decideSchedule } from "./schedule.ts";
import { evolveSchedule, scheduleWork, type ScheduleState } from "./scheduleState.ts";

export interface TriggerState {
  status: "absent" | "enabled" | "disabled" | "deleted";
  /** Credential id of the secret with which the sender signs. */
  credential_id?: string;
  /** Set for an enabled trigger that starts runs at due times. */
  schedule?: ScheduleState;
}
type Command = TriggerCommand | ScheduleCommand;
type Event = TriggerEvent | ScheduleEvent;

const disabled = () => new Rejection("trigger_disabled", "The trigger is disabled, so its secrets do not work.");
const scheduleDisabled = () =>
  new Rejection("trigger_disabled", "The trigger was deleted after it had started runs; create a new one.", {
    param: "trigger_id",
  });
const noSecret = () =>
  new Rejection("trigger_has_no_secret", "The trigger is a schedule, which has no secret.", { param: "trigger_id" });
const noSchedule = () =>
  new Rejection("trigger_has_no_schedule", "The trigger is a webhook, which has no schedule.", { param: "trigger_id" });
const notFound = () => new Rejection("trigger_not_found", "No trigger has this id.", { param: "trigger_id" });
const setSecret = (
  trigger_id: string,
  { credential_id, sealed_secret }: { credential_id: string; sealed_secret: string },
  ends_credential_id: string | null,
) => SigningSecretSet.of({ trigger_id, credential_id, ends_credential_id }, { sealed_secret });

function decideWebhook(command: TriggerCommand, { status, credential_id, schedule }: TriggerState): TriggerEvent[] {
  const { type, data } = command;
  const { trigger_id } = data;
  if (type === "CreateTrigger") {
    const { name, default_args, verify, headers, event, signing, ...created } = data;
    const optional = { ...(verify && { verify }), ...(headers && { headers }), ...(event !== undefined && { event }) };
    const personal = { name, default_args, ...optional };
    const secrets = signing ? [setSecret(trigger_id, signing, null)] : [];
    return [TriggerCreated.of(created, personal), ...secrets];
  }
  const ending = { trigger_id, ...(credential_id && { ends_credential_id: credential_id }) };
  switch (type) {
    case "RotateTrigger":
      if (status === "disabled") throw disabled();
      if (schedule) throw noSecret();
      return [TriggerRotated.of(data)];
    case "SetSigningSecret":
      if (status === "disabled") throw disabled();
      if (schedule) throw noSecret();
      return [setSecret(trigger_id, data, credential_id ?? null)];
    case "DisableTrigger":
      return status === "disabled" ? [] : [TriggerDisabled.of(ending)];
    case "DeleteTrigger":
      return [TriggerDeleted.of(ending)];
  }
}

function decideExisting(command: Exclude<Command, { type: "CreateSchedule" }>, state: TriggerState): Event[] {
  switch (command.type) {
    case "ChangeSchedule":
      if (state.status === "disabled") throw scheduleDisabled();
      if (!state.schedule) throw noSchedule();
      return decideSchedule(command, state.schedule);
    case "FireSchedule":
    case "StartQueuedRun":
    case "TakeSchedule":
    case "RecordScheduledRun":
      return state.schedule ? decideSchedule(command, state.schedule) : [];
    default:
      return decideWebhook(command, state);
  }
}

export const trigger: Decider<TriggerState, Command, Event> = {
  version: 2,
  initial: { status: "absent" },
  decide(command, state) {
    const creates = command.type === "CreateTrigger" || command.type === "CreateSchedule";
    if (creates && state.status !== "absent") throw new Rejection("trigger_exists", "This trigger exists already.");
    if (!creates && (state.status === "absent" || state.status === "deleted")) throw notFound();
    return command.type === "CreateSchedule" ? createSchedule(command) : decideExisting(command, state);
  },
  evolve(state, event) {
    switch (event.type) {
      case "TriggerCreated":
        return { status: "enabled" };
      case "TriggerRotated":
        return state;
      case "SigningSecretSet":
        return { ...state, credential_id: event.data.credential_id };
      case "TriggerDisabled":
        return { status: "disabled" };
      case "TriggerDeleted":
        return { status: "deleted" };
      default: {
        const schedule = evolveSchedule(state.schedule, event);
        return schedule ? { status: "enabled", schedule } : state;
      }
    }
  },
  workStatus: ({ schedule }) => (schedule ? scheduleWork(schedule) : { status: null, due_at: null, worker: null }),
  erases: (events) => ({
    things: events.flatMap(({ type, data }) => [
      ...(type === "TriggerDeleted" ? [streamName("trigger", data.trigger_id)] : []),
      ...("ends_credential_id" in data && data.ends_credential_id
        ? [streamName("credential", data.ends_credential_id)]
        : []),
    ]),
  }),
};
