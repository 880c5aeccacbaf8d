import { ApiError } from "@google/genai";
import { ModelError } from "#services/turns/model.ts";
import { keep, type Kept } from "../kept.ts";
import type { Provider } from "../lazy.ts";
import { recent } from "../recent.ts";
import { brokeOff, gaveUp, jsonOf, wordsIn } from "../wire/failure.ts";
import { openClient } from "./client.ts";
import { complete } from "./complete.ts";
import { forOneAnswer, googleFetch } from "./fetch.ts";
import { factsOf, Told, UNKNOWN, type Facts } from "./facts.ts";

/** The name stands in the address of a request. */
const NAME = /^[\w-]+([.:/][\w-]+)*$/;
/** Models of one credential whose facts are kept. */
const KEPT_MODELS = 100;

export const open: Provider["open"] = (credential, send) => {
  const fetch = googleFetch(send, credential.api_key);
  const client = openClient(credential, fetch);
  const models = recent<Kept<Facts>>(KEPT_MODELS);
  const ask = (model: string) => async (abortSignal: AbortSignal) =>
    factsOf(Told.parse(await client.models.get({ model, config: { abortSignal } })));
  return async function* (request, signal) {
    if (!NAME.test(request.model)) throw new ModelError("refused", "There is no model of this name.", { status: 404 });
    const facts = (await models(request.model, () => keep(ask(request.model))).soon()) ?? UNKNOWN;
    signal.throwIfAborted();
    yield* complete({ client, fetch: forOneAnswer(fetch) }, request, facts, signal);
  };
};

/** The SDK puts the whole error into its message, behind `got status: UNAVAILABLE. `. */
const wordsOf = ({ message }: ApiError): string => wordsIn(jsonOf(message.slice(message.indexOf("{")))) ?? message;

/** Failures before an answer come as ModelErrors from the client's fetch; an ApiError came within a stream. */
export function modelError(error: unknown, apiKey: string): ModelError {
  if (error instanceof ModelError) return error;
  return error instanceof ApiError ? gaveUp(wordsOf(error), apiKey) : brokeOff(error);
}
