import { ModelError, type Credential, type Model, type Models } from "#services/turns/model.ts";
import { anthropicModel } from "./anthropic.ts";
import { googleModel } from "./google.ts";
import { offlineModel } from "./offline.ts";
import { openaiModel } from "./openai.ts";
import { ownState } from "./ownState.ts";
import { hasAddress, isSendable } from "./provider.ts";
import { recent } from "./recent.ts";
import { openTransport } from "./send.ts";

export { openCatalog } from "./catalog.ts";

/** Clients that are kept ready; another one is made when it is asked for. */
const KEPT_CLIENTS = 1_000;

const unusable = (message: string): Model => ({
  // oxlint-disable-next-line require-yield
  async *complete() {
    throw new ModelError("refused", message);
  },
});

/** Providers that speak a language of their own; every other one speaks OpenAI's. */
const CONNECTORS = new Map([
  ["anthropic", anthropicModel],
  ["google", googleModel],
]);

/**
 * The models behind credentials: the offline ones, where they are on, for the provider `offline`, and a client for every other.
 * `privateHosts`: private addresses that tenants may name, as in guardedFetch.
 */
export function openModels({ offline, privateHosts }: { offline: boolean; privateHosts: string[] }): Models {
  const kept = recent<Model>(KEPT_CLIENTS);
  const transport = openTransport({ privateHosts });
  const connect = (credential: Credential): Model => {
    if (credential.provider === "offline") return offline ? offlineModel : unusable("The offline models are off here.");
    if (!hasAddress(credential)) return unusable(`The provider ${credential.provider} has no usable address.`);
    if (!isSendable(credential.api_key)) return unusable("The provider's API key has characters that no key can have.");
    const connector = CONNECTORS.get(credential.provider) ?? openaiModel;
    return ownState(credential.provider, connector(credential, transport(credential)));
  };
  return { open: (credential) => kept(JSON.stringify(credential), () => connect(credential)) };
}
