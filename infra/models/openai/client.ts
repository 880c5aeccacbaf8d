import OpenAI from "openai";
import type { Credential } from "#services/turns/model.ts";
import type { Send } from "../send.ts";
import { sdkFetch } from "../wire/sdkFetch.ts";

/** The largest delay a timer takes, 24 days: how long an answer may last is the caller's business. */
const NEVER = 2 ** 31 - 1;

/** A client that takes nothing from the environment, never retries and writes no log. */
export const openClient = ({ api_key, base_url }: Credential, send: Send): OpenAI =>
  new OpenAI({
    apiKey: api_key,
    /* Null is OpenAI itself; undefined would be what the environment says. */
    baseURL: base_url,
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    maxRetries: 0,
    timeout: NEVER,
    logLevel: "off",
    fetch: sdkFetch(send),
  });
