import { providerStream } from "#events/provider.ts";
import type { EventLog, Keyring } from "#events/ports.ts";
import { provider as decider, type ProviderState } from "../deciders/provider.ts";
import { stateOf } from "../states.ts";
import { ModelError, type Credential } from "./model.ts";

export interface Credentials {
  log: Pick<EventLog, "heads" | "read">;
  keyring: Pick<Keyring, "openSecret">;
  /** The deployment's own, by provider name. */
  deployment: Credential[];
  offline: boolean;
}

/**
 * The credential for a provider: the organization's own, read fresh so that a removed one stops at once,
 * else the deployment's. Throws a ModelError when there is none (any more).
 */
export async function credentialFor(from: Credentials, organization: string, provider: string): Promise<Credential> {
  if (provider === "offline" && from.offline) return { provider, api_key: "", base_url: null, guarded: false };
  const stream = providerStream(organization, provider);
  const head = (await from.log.heads([stream])).get(stream);
  const state: ProviderState = head ? (await stateOf(from.log, head, decider)).state : decider.initial;
  if (state.status === "configured") {
    const api_key = from.keyring.openSecret(`provider:${organization}:${provider}`, state.sealed_api_key);
    return { provider, api_key, base_url: state.base_url, guarded: state.base_url !== null };
  }
  const own = from.deployment.find((credential) => credential.provider === provider);
  if (!own) throw new ModelError("refused", `No credential for the provider ${provider}.`, { status: 404 });
  return own;
}
