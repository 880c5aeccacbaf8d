import type OpenAI from "openai";
import type { Credential, Model } from "#services/turns/model.ts";
import { abortError } from "./abort.ts";

/** True for OpenAI's own API, whose newest models no longer take what compatible servers only know. */
const isOwnAddress = (base_url: string | null): boolean =>
  base_url === null || URL.parse(base_url)?.hostname === "api.openai.com";

/**
 * OpenAI, or any server that speaks its chat completions API at the credential's `base_url`.
 * The SDK takes 0.2 s to load, so it waits for the first request; `fetch` carries the requests.
 */
export function openaiModel(credential: Credential, fetch: typeof globalThis.fetch): Model {
  const ownAddress = isOwnAddress(credential.base_url);
  let client: OpenAI | undefined;
  return {
    async *complete(request, signal) {
      const [{ openClient }, { complete }, { modelError }] = await Promise.all([
        import("./openai/client.ts"),
        import("./openai/complete.ts"),
        import("./openai/failure.ts"),
      ]);
      try {
        client ??= openClient(credential, fetch);
        yield* complete(client, request, ownAddress, signal);
      } catch (error) {
        throw signal.aborted ? abortError(signal) : modelError(error, credential.api_key);
      }
    },
  };
}
