import { APIConnectionError, APIError } from "@anthropic-ai/sdk";
import type { ProviderApi } from "../providerApi.ts";
import { lruCache } from "../lruCache.ts";
import { refreshingCache, type RefreshingCache } from "../refreshingCache.ts";
import { createErrorConverter } from "../wire/sdkErrors.ts";
import { openClient } from "./client.ts";
import { complete } from "./complete.ts";
import { ModelDescription, toFacts, UNKNOWN_MODEL, type ModelFacts } from "./facts.ts";

/** Models of one credential whose facts are cached. */
const MAX_MODEL_FACTS = 100;

export const open: ProviderApi["open"] = (credential, send) => {
  const client = openClient(credential, send);
  const facts = lruCache<RefreshingCache<ModelFacts>>(MAX_MODEL_FACTS);
  const fetchFacts = (model: string) => async (signal: AbortSignal) =>
    toFacts(ModelDescription.parse(await client.models.retrieve(model, {}, { signal })));
  return async function* (request, signal) {
    const { model } = request;
    const known = await facts(model, () => refreshingCache(fetchFacts(model))).get();
    signal.throwIfAborted();
    yield* complete(client, request, known ?? UNKNOWN_MODEL, signal);
  };
};

export const modelError = createErrorConverter({ APIError, APIConnectionError });
