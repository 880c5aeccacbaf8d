import OpenAI from "openai";
import type { Credential } from "#services/turns/model.ts";
import type { RequestSender } from "../send.ts";
import { NO_TIMEOUT_MS, sdkFetch } from "../wire/sdkFetch.ts";

/** A client that reads nothing from the environment, never retries and writes no logs. */
export const openClient = ({ api_key, base_url }: Credential, send: RequestSender): OpenAI =>
  new OpenAI({
    apiKey: api_key,
    // null is OpenAI's own address; undefined would be the environment's
    baseURL: base_url,
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    maxRetries: 0,
    timeout: NO_TIMEOUT_MS,
    logLevel: "off",
    fetch: sdkFetch(send),
  });
