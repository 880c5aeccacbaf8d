import { ModelError } from "#services/turns/model.ts";
import type { ProviderApi } from "../providerApi.ts";
import { interruptedError } from "../wire/errors.ts";
import { openClient } from "./client.ts";
import { complete } from "./complete.ts";

/** OpenAI's newest models refuse fields that are all that compatible servers know. */
const isOpenaiAddress = (base_url: string | null): boolean =>
  base_url === null || URL.parse(base_url)?.hostname === "api.openai.com";

export const open: ProviderApi["open"] = (credential, send) => {
  const client = openClient(credential, send);
  const isOpenai = isOpenaiAddress(credential.base_url);
  return (request, signal) => complete({ client, api_key: credential.api_key, isOpenai }, request, signal);
};

export const modelError = (error: unknown): ModelError =>
  error instanceof ModelError ? error : interruptedError(error);
