import { APIConnectionError, APIError } from "@anthropic-ai/sdk";
import { keep, type Kept } from "../kept.ts";
import type { Provider } from "../lazy.ts";
import { recent } from "../recent.ts";
import { modelErrors } from "../wire/sdkErrors.ts";
import { openClient } from "./client.ts";
import { complete } from "./complete.ts";
import { factsOf, Told, UNKNOWN, type Facts } from "./facts.ts";

/** Models of one credential whose facts are kept. */
const KEPT_MODELS = 100;

export const open: Provider["open"] = (credential, send) => {
  const client = openClient(credential, send);
  const models = recent<Kept<Facts>>(KEPT_MODELS);
  const factsFor = (model: string) =>
    models(model, () =>
      keep(async (signal) => factsOf(Told.parse(await client.models.retrieve(model, {}, { signal })))),
    );
  return async function* (request, signal) {
    const facts = (await factsFor(request.model).soon()) ?? UNKNOWN;
    signal.throwIfAborted();
    yield* complete(client, request, facts, signal);
  };
};

export const modelError = modelErrors({ APIError, APIConnectionError });
