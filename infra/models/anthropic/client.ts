import Anthropic from "@anthropic-ai/sdk";
import type { Credential } from "#services/turns/model.ts";
import { withoutVersion } from "../provider.ts";
import type { Send } from "../send.ts";
import { sdkFetch } from "../wire/sdkFetch.ts";

/** The largest delay a timer takes, 24 days: how long an answer may last is the caller's business. */
const NEVER = 2 ** 31 - 1;

/** A client that takes nothing from the environment, never retries, and writes neither logs nor traces. */
export const openClient = ({ api_key, base_url }: Credential, send: Send): Anthropic =>
  new Anthropic({
    apiKey: api_key,
    /* Null is Anthropic itself; undefined would be what the environment says. */
    baseURL: base_url === null ? null : withoutVersion(base_url, "v1"),
    webhookKey: null,
    maxRetries: 0,
    timeout: NEVER,
    logLevel: "off",
    openTelemetry: false,
    fetch: sdkFetch(send, ["anthropic-version"]),
  });
