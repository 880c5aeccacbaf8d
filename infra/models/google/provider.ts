import { ApiError } from "@google/genai";
import { ModelError } from "#services/turns/model.ts";
import type { ProviderApi } from "../providerApi.ts";
import { lruCache } from "../lruCache.ts";
import { refreshingCache, type RefreshingCache } from "../refreshingCache.ts";
import { errorMessage, interruptedError, reportedError } from "../wire/errors.ts";
import { parseJson } from "../wire/json.ts";
import { openClient } from "./client.ts";
import { complete } from "./complete.ts";
import { googleFetch, limitRequests } from "./fetch.ts";
import { ModelDescription, toFacts, UNKNOWN_MODEL, type ModelFacts } from "./facts.ts";

/** A model's name becomes part of the request's path. */
const MODEL_NAME = /^[\w-]+([.:/][\w-]+)*$/;
/** Models of one credential whose facts are cached. */
const MAX_MODEL_FACTS = 100;

export const open: ProviderApi["open"] = (credential, send) => {
  const fetch = googleFetch(send, credential.api_key);
  const client = openClient(credential, fetch);
  const facts = lruCache<RefreshingCache<ModelFacts>>(MAX_MODEL_FACTS);
  const fetchFacts = (model: string) => async (abortSignal: AbortSignal) =>
    toFacts(ModelDescription.parse(await client.models.get({ model, config: { abortSignal } })));
  return async function* (request, signal) {
    const { model } = request;
    if (!MODEL_NAME.test(model)) throw new ModelError("refused", "There is no model of this name.", { status: 404 });
    const known = await facts(model, () => refreshingCache(fetchFacts(model))).get();
    signal.throwIfAborted();
    yield* complete({ client, fetch: limitRequests(fetch) }, request, known ?? UNKNOWN_MODEL, signal);
  };
};

/** The SDK puts the whole error body into its message, as in `got status: UNAVAILABLE. {…}`. */
function reportedByModel({ message }: ApiError, apiKey: string): ModelError {
  const body = parseJson(message.slice(message.indexOf("{")));
  return reportedError(errorMessage(body) ?? message, body, apiKey);
}

/** Failures before an answer come as ModelErrors from the client's fetch; an ApiError came within a stream. */
export function modelError(error: unknown, apiKey: string): ModelError {
  if (error instanceof ModelError) return error;
  return error instanceof ApiError ? reportedByModel(error, apiKey) : interruptedError(error);
}
