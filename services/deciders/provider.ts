import type { Decider } from "#events/decider.ts";
import {
  ProviderConfigured,
  ProviderRemoved,
  type ProviderCommand,
  type ProviderEvent,
  type ProviderFormat,
} from "#events/provider.ts";
import { Rejection } from "#events/rejection.ts";
import { eraseEndedCredentials } from "./keyErasure.ts";

/**
 * A turn reads the credential from the head row, so the state holds the secret although it is a personal field. The event that
 * erases it also removes it from the state. A fold after the erasure lacks the secret, and a later event of the stream removes the
 * credential.
 */
export type ProviderState =
  | { status: "absent" }
  | {
      status: "configured";
      credential_id: string;
      base_url: string | null;
      format?: ProviderFormat;
      context_windows?: Record<string, number>;
      model?: string;
      dimensions?: number;
      sealed_api_key: string;
    };

const currentCredential = (state: ProviderState): string | null =>
  state.status === "configured" ? state.credential_id : null;

export const provider: Decider<ProviderState, ProviderCommand, ProviderEvent> = {
  version: 1,
  initial: { status: "absent" },
  decide(command, state) {
    switch (command.type) {
      case "ConfigureProvider": {
        const { sealed_api_key, ...data } = command.data;
        return [ProviderConfigured.of({ ...data, ends_credential_id: currentCredential(state) }, { sealed_api_key })];
      }
      case "RemoveProvider":
        if (state.status === "absent")
          throw new Rejection("provider_not_found", "No provider of this name is configured.");
        return [ProviderRemoved.of({ name: command.data.name, ends_credential_id: currentCredential(state) })];
    }
  },
  evolve(_, event) {
    switch (event.type) {
      case "ProviderConfigured": {
        const { credential_id, base_url, format, context_windows, model, dimensions } = event.data;
        const sealed_api_key = event.personal?.sealed_api_key ?? "";
        return {
          status: "configured",
          credential_id,
          base_url,
          sealed_api_key,
          ...(format && { format }),
          ...(context_windows && { context_windows }),
          ...(model !== undefined && { model }),
          ...(dimensions !== undefined && { dimensions }),
        };
      }
      case "ProviderRemoved":
        return { status: "absent" };
    }
  },
  erases: eraseEndedCredentials,
};
