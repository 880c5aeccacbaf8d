import type { OpenProvider } from "../providerApi.ts";
import { openOpenai } from "./client.ts";
import { complete } from "./complete.ts";

/** OpenAI's newest models refuse some fields that compatible servers require. */
const isOpenaiAddress = (base_url: string | null): boolean =>
  base_url === null || URL.parse(base_url)?.hostname === "api.openai.com";

export const open: OpenProvider = (credential, send) => {
  const client = openOpenai(credential, send);
  const isOpenai = isOpenaiAddress(credential.base_url);
  return (request, signal) => complete({ client, api_key: credential.api_key, isOpenai }, request, signal);
};
