import type { Credential } from "#services/turns/model.ts";
import { connectorFor } from "./connectors.ts";
import { shortenList, type ListedModel } from "./modelList.ts";
import { refreshingCache, type RefreshingCache } from "./refreshingCache.ts";
import type { RequestSender } from "./send.ts";

/** A provider's own list of models. */
export type ModelListCache = RefreshingCache<ListedModel[]>;

/** `openCredential` may throw: if a key cannot be decrypted, the list counts as not available. */
export const modelListCache = (
  openCredential: () => Credential,
  transport: (credential: Credential) => RequestSender,
): ModelListCache =>
  refreshingCache(async (signal) => {
    const credential = openCredential();
    return shortenList(await connectorFor(credential).listModels(credential, transport(credential), signal));
  });
