import type OpenAI from "openai";
import type { Credential, Model } from "#services/turns/model.ts";
import { abortError } from "./abort.ts";
import type { Send } from "./send.ts";

/** The SDK takes 0.12 s to load, so it waits for the first request; loaded once, because even a repeated import() costs time. */
const load = async () => ({
  ...(await import("./openai/client.ts")),
  ...(await import("./openai/complete.ts")),
  ...(await import("./openai/failure.ts")),
});
let loaded: ReturnType<typeof load> | undefined;

/** True for OpenAI's own API, whose newest models no longer take what compatible servers only know. */
const isOwnAddress = (base_url: string | null): boolean =>
  base_url === null || URL.parse(base_url)?.hostname === "api.openai.com";

/** OpenAI, or any server that speaks its chat completions API at the credential's `base_url`; `send` carries the requests. */
export function openaiModel(credential: Credential, send: Send): Model {
  const ownAddress = isOwnAddress(credential.base_url);
  let client: OpenAI | undefined;
  return {
    async *complete(request, signal) {
      const { openClient, complete, modelError } = await (loaded ??= load());
      try {
        client ??= openClient(credential, send);
        yield* complete(client, request, ownAddress, signal);
      } catch (error) {
        throw signal.aborted ? abortError(signal) : modelError(error, credential.api_key);
      }
    },
  };
}
