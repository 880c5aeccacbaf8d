import type { Credential, Model, ModelError, ModelEvent, ModelRequest } from "#services/turns/model.ts";
import { abortError } from "./abort.ts";
import type { Send } from "./send.ts";

/** What speaks to a provider through its SDK. */
export interface Provider {
  /** The models behind a credential; `send` carries the requests. May throw what the SDK throws. */
  open(credential: Credential, send: Send): (request: ModelRequest, signal: AbortSignal) => AsyncIterable<ModelEvent>;
  modelError(error: unknown, apiKey: string): ModelError;
}

/** SDKs take 0.1 to 0.4 s to load, so each waits for its first request; loaded once, because even a repeated import() costs time. */
export function lazyModel(load: () => Promise<Provider>): (credential: Credential, send: Send) => Model {
  let loaded: Promise<Provider> | undefined;
  return (credential, send) => {
    let opened: ReturnType<Provider["open"]> | undefined;
    return {
      async *complete(request, signal) {
        const { open, modelError } = await (loaded ??= load());
        try {
          opened ??= open(credential, send);
          yield* opened(request, signal);
        } catch (error) {
          throw signal.aborted ? abortError(signal) : modelError(error, credential.api_key);
        }
      },
    };
  };
}
