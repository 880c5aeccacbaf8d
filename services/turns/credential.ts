import { providerStream } from "#events/provider.ts";
import type { EventLog } from "#events/ports.ts";
import type { Keyring } from "#events/vault.ts";
import { provider as decider, type ProviderState } from "../deciders/provider.ts";
import { readState } from "../states.ts";
import { ModelError, type Credential } from "./model.ts";

export interface CredentialSources {
  log: Pick<EventLog, "heads" | "read">;
  keyring: Pick<Keyring, "openSecret">;
  /** The deployment's own. */
  deployment: Credential[];
  offline: boolean;
}

/**
 * The credential for a provider: the organization's own, else the deployment's. Reads the log every time, so that a removed
 * credential stops working at once. Throws ModelError when there is none.
 */
export async function findCredential(
  from: CredentialSources,
  organization: string,
  provider: string,
): Promise<Credential> {
  if (provider === "offline" && from.offline) return { provider, api_key: "", base_url: null, guarded: false };
  const stream = providerStream(organization, provider);
  const head = (await from.log.heads([stream])).get(stream);
  const state: ProviderState = head ? (await readState(from.log, head, decider)).state : decider.initial;
  if (state.status === "configured") {
    const api_key = from.keyring.openSecret(`provider:${organization}:${provider}`, state.sealed_api_key);
    return { provider, api_key, base_url: state.base_url, guarded: state.base_url !== null };
  }
  const own = from.deployment.find((credential) => credential.provider === provider);
  if (!own) throw new ModelError("refused", `No credential for the provider ${provider}.`, { status: 404 });
  return own;
}
