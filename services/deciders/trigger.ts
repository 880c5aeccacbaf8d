import type { Decider } from "#events/decider.ts";
import { streamOf } from "#events/ids.ts";
import { Rejection } from "#events/rejection.ts";
import {
  TriggerCreated,
  TriggerDeleted,
  TriggerDisabled,
  TriggerRotated,
  type TriggerCommand,
  type TriggerEvent,
} from "#events/trigger.ts";

interface State {
  status: "absent" | "enabled" | "disabled" | "deleted";
}

const absent = () => new Rejection("trigger_not_found", "No trigger has this id.", { param: "trigger_id" });

export const trigger: Decider<State, TriggerCommand, TriggerEvent> = {
  version: 1,
  initial: { status: "absent" },
  decide({ type, data }, { status }) {
    if (type === "CreateTrigger") {
      if (status !== "absent") throw new Rejection("trigger_exists", "This trigger exists already.");
      const { name, default_args, ...created } = data;
      return [TriggerCreated.of(created, { name, default_args })];
    }
    if (status === "absent" || status === "deleted") throw absent();
    const { trigger_id } = data;
    switch (type) {
      case "RotateTrigger":
        if (status === "disabled")
          throw new Rejection("trigger_disabled", "The trigger is disabled: no secret of it is of use.");
        return [TriggerRotated.of(data)];
      case "DisableTrigger":
        return status === "disabled" ? [] : [TriggerDisabled.of({ trigger_id })];
      case "DeleteTrigger":
        return [TriggerDeleted.of({ trigger_id })];
    }
  },
  evolve(state, { type }) {
    switch (type) {
      case "TriggerCreated":
        return { status: "enabled" };
      case "TriggerRotated":
        return state;
      case "TriggerDisabled":
        return { status: "disabled" };
      case "TriggerDeleted":
        return { status: "deleted" };
    }
  },
  erases: (events) => ({
    things: events.flatMap((event) =>
      event.type === "TriggerDeleted" ? [streamOf("trigger", event.data.trigger_id)] : [],
    ),
  }),
};
