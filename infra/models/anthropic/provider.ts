import type { OpenProvider } from "../providerApi.ts";
import { lruCache } from "../lruCache.ts";
import { refreshingCache, type RefreshingCache } from "../refreshingCache.ts";
import { openAnthropic } from "./client.ts";
import { complete } from "./complete.ts";
import { ModelDescription, toFacts, UNKNOWN_MODEL, type ModelFacts } from "./facts.ts";

/** Models of one credential whose facts are cached. */
const MAX_MODEL_FACTS = 100;

export const open: OpenProvider = (credential, send) => {
  const client = openAnthropic(credential, send);
  const facts = lruCache<RefreshingCache<ModelFacts>>(MAX_MODEL_FACTS);
  const fetchFacts = (model: string) => async (signal: AbortSignal) => {
    const response = await client(`/models/${encodeURIComponent(model)}`, signal);
    return toFacts(ModelDescription.parse(await response.json()));
  };
  return async function* (request, signal) {
    const { model } = request;
    const known = await facts(model, () => refreshingCache(fetchFacts(model))).get();
    signal.throwIfAborted();
    yield* complete({ client, api_key: credential.api_key }, request, known ?? UNKNOWN_MODEL, signal);
  };
};
