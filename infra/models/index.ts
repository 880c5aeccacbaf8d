import {
  limitSentFiles,
  ModelError,
  type Credential,
  type Model,
  type ModelRequest,
  type Models,
} from "#services/turns/model.ts";
import { connectorFor } from "./connectors.ts";
import { lruCache } from "./lruCache.ts";
import { offlineModel } from "./offline.ts";
import { hasAddress, isSendableKey } from "./providerAddress.ts";
import { isolateState } from "./providerState.ts";
import { openTransport } from "./send.ts";

export { openCatalog } from "./catalog.ts";

/** Clients kept open, one per credential. */
const MAX_CLIENTS = 1_000;

const fileBytes = ({ messages }: ModelRequest): number =>
  messages.flatMap(({ parts }) => parts).reduce((sum, part) => sum + (part.type === "file" ? part.bytes.length : 0), 0);

/** Refuses too many bytes of files. For an alias, only the target that is asked determines the provider. */
const withLimit = (model: Model): Model => ({
  async *complete(request, signal) {
    limitSentFiles(fileBytes(request));
    yield* model.complete(request, signal);
  },
});

const unusable = (message: string): Model => ({
  // oxlint-disable-next-line require-yield
  async *complete() {
    throw new ModelError("refused", message);
  },
});

/**
 * The models behind credentials: offline models for the provider `offline`, if enabled, and a client for every other.
 * `privateHosts`: private addresses that tenants may name, as in guardedFetch.
 */
export function openModels({ offline, privateHosts }: { offline: boolean; privateHosts: string[] }): Models {
  const clients = lruCache<Model>(MAX_CLIENTS);
  const transport = openTransport({ privateHosts });
  const connect = (credential: Credential): Model => {
    const { provider, api_key } = credential;
    if (provider === "offline") return offline ? offlineModel : unusable("The offline models are off here.");
    if (!hasAddress(credential)) return unusable(`The provider ${provider} has no usable address.`);
    if (!isSendableKey(api_key)) return unusable("The provider's API key has characters that no key can have.");
    const model = connectorFor(credential).model(credential, transport(credential));
    return withLimit(isolateState(provider, model));
  };
  return { open: (credential) => clients(JSON.stringify(credential), () => connect(credential)) };
}
