import { ModelError } from "#services/turns/model.ts";
import type { OpenProvider } from "../providerApi.ts";
import { lruCache } from "../lruCache.ts";
import { refreshingCache, type RefreshingCache } from "../refreshingCache.ts";
import { modelPath, openGoogle } from "./client.ts";
import { complete } from "./complete.ts";
import { ModelDescription, toFacts, UNKNOWN_MODEL, type ModelFacts } from "./facts.ts";

/** A model's name becomes part of the request's path. */
const MODEL_NAME = /^[\w-]+([.:/][\w-]+)*$/;
/** Models of one credential whose facts are cached. */
const MAX_MODEL_FACTS = 100;

export const open: OpenProvider = (credential, send) => {
  const client = openGoogle(credential, send);
  const facts = lruCache<RefreshingCache<ModelFacts>>(MAX_MODEL_FACTS);
  const fetchFacts = (model: string) => async (signal: AbortSignal) => {
    const response = await client(modelPath(model), signal);
    return toFacts(ModelDescription.parse(await response.json()));
  };
  return async function* (request, signal) {
    const { model } = request;
    if (!MODEL_NAME.test(model)) throw new ModelError("refused", "There is no model of this name.", { status: 404 });
    const known = await facts(model, () => refreshingCache(fetchFacts(model))).get();
    signal.throwIfAborted();
    yield* complete({ client, api_key: credential.api_key }, request, known ?? UNKNOWN_MODEL, signal);
  };
};
