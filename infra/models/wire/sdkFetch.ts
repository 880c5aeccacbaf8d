import type { RequestSender } from "../send.ts";
import { checkedResponse } from "./checkedResponse.ts";

/** The longest delay a timer takes, 24 days: our own signals limit how long an answer may take, not the SDKs. */
export const NO_TIMEOUT_MS = 2 ** 31 - 1;

/** The only headers sent to every provider. SDKs would add telemetry, and values from the environment even for addresses that tenants named. */
const SENT_HEADERS = ["authorization", "accept", "content-type", "user-agent"];

/** A fetch for SDKs that sends with `send` and checks the bytes of answers. `moreHeaders`: what this provider needs too. */
export const sdkFetch =
  (send: RequestSender, moreHeaders: string[] = []): typeof fetch =>
  async (input, init) => {
    const url = input instanceof Request ? input.url : input.toString();
    const sdkHeaders = new Headers(init?.headers);
    const headers = Object.fromEntries(
      [...SENT_HEADERS, ...moreHeaders].flatMap((name) =>
        sdkHeaders.has(name) ? [[name, sdkHeaders.get(name)!]] : [],
      ),
    );
    const body = typeof init?.body === "string" ? init.body : undefined;
    const signal = init?.signal ?? new AbortController().signal;
    return checkedResponse(await send(url, { method: init?.method ?? "GET", headers, body, signal }), url);
  };
