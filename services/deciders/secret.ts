import type { Decider } from "#events/decider.ts";
import { streamOf } from "#events/ids.ts";
import { Rejection } from "#events/rejection.ts";
import { SecretRemoved, SecretSet, type SecretCommand, type SecretEvent } from "#events/secret.ts";

/** As with a provider's credential, the sealed value is kept here, and leaves the row with the event that ends it. */
export type SecretState = { status: "absent" } | { status: "set"; credential_id: string; sealed_value: string };

const current = (state: SecretState): string | null => (state.status === "set" ? state.credential_id : null);

export const secret: Decider<SecretState, SecretCommand, SecretEvent> = {
  version: 1,
  initial: { status: "absent" },
  decide(command, state) {
    switch (command.type) {
      case "SetSecret": {
        const { sealed_value, ...data } = command.data;
        return [SecretSet.of({ ...data, ends_credential_id: current(state) }, { sealed_value })];
      }
      case "RemoveSecret":
        if (state.status === "absent") throw new Rejection("secret_not_found", "No secret has this name.");
        return [SecretRemoved.of({ name: command.data.name, ends_credential_id: current(state) })];
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
  erases: (events) => ({
    things: events.flatMap(({ data: { ends_credential_id: ended } }) => (ended ? [streamOf("credential", ended)] : [])),
  }),
};
