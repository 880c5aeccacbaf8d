import Anthropic from "@anthropic-ai/sdk";
import type { Credential } from "#services/turns/model.ts";
import { withoutVersion } from "../providerAddress.ts";
import type { RequestSender } from "../send.ts";
import { NO_TIMEOUT_MS, sdkFetch } from "../wire/sdkFetch.ts";

/** A client that reads nothing from the environment, never retries, and writes no logs or traces. */
export const openClient = ({ api_key, base_url }: Credential, send: RequestSender): Anthropic =>
  new Anthropic({
    apiKey: api_key,
    // null is Anthropic's own address; undefined would be the environment's
    baseURL: base_url === null ? null : withoutVersion(base_url, "v1"),
    webhookKey: null,
    maxRetries: 0,
    timeout: NO_TIMEOUT_MS,
    logLevel: "off",
    openTelemetry: false,
    fetch: sdkFetch(send, ["anthropic-version"]),
  });
