import type { Credential } from "#services/turns/model.ts";
import type { RequestSender } from "../send.ts";
import { openClient, type Client } from "../wire/client.ts";

const OPENAI_URL = "https://api.openai.com/v1";

/** A client of OpenAI's API, or of a compatible one at `base_url`. */
export const openOpenai = ({ api_key, base_url }: Credential, send: RequestSender): Client =>
  openClient(
    {
      base: (base_url ?? OPENAI_URL).replace(/\/$/, ""),
      api_key,
      headers: { authorization: `Bearer ${api_key}` },
    },
    send,
  );
