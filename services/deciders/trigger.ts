import type { Decider } from "#events/decider.ts";
import { streamName } from "#events/ids.ts";
import { Rejection } from "#events/rejection.ts";
import {
  SigningSecretSet,
  TriggerCreated,
  TriggerDeleted,
  TriggerDisabled,
  TriggerRotated,
  type TriggerCommand,
  type TriggerEvent,
} from "#events/trigger.ts";

interface State {
  status: "absent" | "enabled" | "disabled" | "deleted";
  /** Of the secret that the sender signs with. */
  credential_id?: string;
}

const disabled = () => new Rejection("trigger_disabled", "The trigger is disabled: no secret of it is of use.");
const notFound = () => new Rejection("trigger_not_found", "No trigger has this id.", { param: "trigger_id" });
const setSecret = (
  trigger_id: string,
  { credential_id, sealed_secret }: { credential_id: string; sealed_secret: string },
  ends_credential_id: string | null,
) => SigningSecretSet.of({ trigger_id, credential_id, ends_credential_id }, { sealed_secret });

export const trigger: Decider<State, TriggerCommand, TriggerEvent> = {
  version: 1,
  initial: { status: "absent" },
  decide({ type, data }, { status, credential_id }) {
    const { trigger_id } = data;
    if (type === "CreateTrigger") {
      if (status !== "absent") throw new Rejection("trigger_exists", "This trigger exists already.");
      const { name, default_args, verify, headers, signing, ...created } = data;
      const personal = { name, default_args, ...(verify && { verify }), ...(headers && { headers }) };
      const secrets = signing ? [setSecret(trigger_id, signing, null)] : [];
      return [TriggerCreated.of(created, personal), ...secrets];
    }
    if (status === "absent" || status === "deleted") throw notFound();
    const ending = { trigger_id, ...(credential_id && { ends_credential_id: credential_id }) };
    switch (type) {
      case "RotateTrigger":
        if (status === "disabled") throw disabled();
        return [TriggerRotated.of(data)];
      case "SetSigningSecret":
        if (status === "disabled") throw disabled();
        return [setSecret(trigger_id, data, credential_id ?? null)];
      case "DisableTrigger":
        return status === "disabled" ? [] : [TriggerDisabled.of(ending)];
      case "DeleteTrigger":
        return [TriggerDeleted.of(ending)];
    }
  },
  evolve(state, { type, data }) {
    switch (type) {
      case "TriggerCreated":
        return { status: "enabled" };
      case "TriggerRotated":
        return state;
      case "SigningSecretSet":
        return { ...state, credential_id: data.credential_id };
      case "TriggerDisabled":
        return { status: "disabled" };
      case "TriggerDeleted":
        return { status: "deleted" };
    }
  },
  erases: (events) => ({
    things: events.flatMap(({ type, data }) => [
      ...(type === "TriggerDeleted" ? [streamName("trigger", data.trigger_id)] : []),
      ...("ends_credential_id" in data && data.ends_credential_id
        ? [streamName("credential", data.ends_credential_id)]
        : []),
    ]),
  }),
};
