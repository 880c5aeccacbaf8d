import type { Credential, ModelEvent, ModelRequest } from "#services/turns/model.ts";
import type { RequestSender } from "./send.ts";

/** The models behind a credential. The returned function may throw ModelErrors, and errors of the network and the parsers. */
export type OpenProvider = (
  credential: Credential,
  send: RequestSender,
) => (request: ModelRequest, signal: AbortSignal) => AsyncIterable<ModelEvent>;
