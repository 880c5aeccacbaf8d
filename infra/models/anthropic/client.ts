import type { Credential } from "#services/turns/model.ts";
import { withoutVersion } from "../providerAddress.ts";
import type { RequestSender } from "../send.ts";
import { openClient, type Client } from "../wire/client.ts";

const ANTHROPIC_URL = "https://api.anthropic.com";
/** The API version that `answer.ts` reads. */
const VERSION = "2026-10-21";

/** A client of Anthropic's API, or of a compatible one at `base_url`. */
export const openAnthropic = ({ api_key, base_url }: Credential, send: RequestSender): Client =>
  openClient(
    {
      base: `${withoutVersion(base_url ?? ANTHROPIC_URL, "v1")}/v1`,
      api_key,
      headers: { authorization: `Bearer ${api_key}`, "anthropic-version": VERSION },
    },
    send,
  );
