import type { Credential, ModelError, ModelEvent, ModelRequest } from "#services/turns/model.ts";
import type { RequestSender } from "./send.ts";

/** Calls one provider API through its SDK. */
export interface ProviderApi {
  /** The models behind a credential. The returned function may throw what the SDK throws. */
  open(
    credential: Credential,
    send: RequestSender,
  ): (request: ModelRequest, signal: AbortSignal) => AsyncIterable<ModelEvent>;
  /** Converts what `open` or its models threw. */
  modelError(error: unknown, apiKey: string): ModelError;
}
