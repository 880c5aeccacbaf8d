import type { Decider } from "#events/decider.ts";
import { Rejection } from "#events/rejection.ts";
import { SecretRemoved, SecretSet, type SecretCommand, type SecretEvent } from "#events/secret.ts";
import { eraseEndedCredentials } from "./keyErasure.ts";

/** The state holds the sealed value, as ProviderState does: the event that erases it also removes it from the state. */
export type SecretState = { status: "absent" } | { status: "set"; credential_id: string; sealed_value: string };

const currentCredential = (state: SecretState): string | null => (state.status === "set" ? state.credential_id : null);

export const secret: Decider<SecretState, SecretCommand, SecretEvent> = {
  version: 1,
  initial: { status: "absent" },
  decide(command, state) {
    switch (command.type) {
      case "SetSecret": {
        const { sealed_value, ...data } = command.data;
        return [SecretSet.of({ ...data, ends_credential_id: currentCredential(state) }, { sealed_value })];
      }
      case "RemoveSecret":
        if (state.status === "absent") throw new Rejection("secret_not_found", "No secret has this name.");
        return [SecretRemoved.of({ name: command.data.name, ends_credential_id: currentCredential(state) })];
    }
  },
  evolve(_, event) {
    switch (event.type) {
      case "SecretSet":
        return {
          status: "set",
          credential_id: event.data.credential_id,
          sealed_value: event.personal?.sealed_value ?? "",
        };
      case "SecretRemoved":
        return { status: "absent" };
    }
  },
  erases: eraseEndedCredentials,
};
