import { APIConnectionError, APIError } from "openai";
import type { Provider } from "../lazy.ts";
import { modelErrors } from "../wire/sdkErrors.ts";
import { openClient } from "./client.ts";
import { complete } from "./complete.ts";

/** True for OpenAI's own API, whose newest models no longer take what compatible servers only know. */
const isOwnAddress = (base_url: string | null): boolean =>
  base_url === null || URL.parse(base_url)?.hostname === "api.openai.com";

export const open: Provider["open"] = (credential, send) => {
  const client = openClient(credential, send);
  const ownAddress = isOwnAddress(credential.base_url);
  return (request, signal) => complete(client, request, ownAddress, signal);
};

export const modelError = modelErrors({ APIError, APIConnectionError });
