import { APIConnectionError, APIError } from "openai";
import type { ProviderApi } from "../connectors.ts";
import { createErrorConverter } from "../wire/sdkErrors.ts";
import { openClient } from "./client.ts";
import { complete } from "./complete.ts";

/** OpenAI's newest models refuse fields that are all that compatible servers know. */
const isOpenaiAddress = (base_url: string | null): boolean =>
  base_url === null || URL.parse(base_url)?.hostname === "api.openai.com";

export const open: ProviderApi["open"] = (credential, send) => {
  const client = openClient(credential, send);
  const isOpenai = isOpenaiAddress(credential.base_url);
  return (request, signal) => complete(client, request, isOpenai, signal);
};

export const modelError = createErrorConverter({ APIError, APIConnectionError });
