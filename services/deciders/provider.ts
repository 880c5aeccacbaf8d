import type { Decider } from "#events/decider.ts";
import { ProviderConfigured, ProviderRemoved, type ProviderCommand, type ProviderEvent } from "#events/provider.ts";
import { Rejection } from "#events/rejection.ts";

/** Kept whole: a turn reads the credential from the head row of the provider's stream. */
export type ProviderState =
  | { status: "absent" }
  | { status: "configured"; base_url: string | null; sealed_api_key: string };

export const provider: Decider<ProviderState, ProviderCommand, ProviderEvent> = {
  version: 1,
  initial: { status: "absent" },
  decide(command, state) {
    switch (command.type) {
      case "ConfigureProvider":
        return [ProviderConfigured.of(command.data)];
      case "RemoveProvider":
        if (state.status === "absent")
          throw new Rejection("provider_not_found", "No provider of this name is configured.");
        return [ProviderRemoved.of({ name: command.data.name })];
    }
  },
  evolve(_, event) {
    switch (event.type) {
      case "ProviderConfigured":
        return { status: "configured", base_url: event.data.base_url, sealed_api_key: event.data.sealed_api_key };
      case "ProviderRemoved":
        return { status: "absent" };
    }
  },
};
