import type { Answered, Send } from "../send.ts";
import { checkedChunks } from "./body.ts";

/** What every provider needs. An SDK would add its own telemetry, and what the environment says even for addresses that tenants named. */
const SENT_HEADERS = ["authorization", "accept", "content-type", "user-agent"];

/** The part of a Response that the SDKs read. A real one would carry every chunk through two web streams. */
function asResponse(answered: Answered, url: string): Response {
  const { status, headers } = answered;
  const body = checkedChunks(answered);
  const text = async () => Buffer.concat(await Array.fromAsync(body)).toString("utf8");
  const json = async () => JSON.parse(await text()) as unknown;
  const ok = status >= 200 && status < 300;
  return { status, ok, headers, url, body, text, json } as unknown as Response;
}

/** What an SDK takes for fetch: our way to send, and answers whose bytes are checked. `more`: headers that this provider needs too. */
export const sdkFetch =
  (send: Send, more: string[] = []): typeof fetch =>
  async (input, init) => {
    const url = input instanceof Request ? input.url : input.toString();
    const given = new Headers(init?.headers);
    const headers = Object.fromEntries(
      [...SENT_HEADERS, ...more].flatMap((name) => (given.has(name) ? [[name, given.get(name)!]] : [])),
    );
    const body = typeof init?.body === "string" ? init.body : undefined;
    const signal = init?.signal ?? new AbortController().signal;
    return asResponse(await send(url, { method: init?.method ?? "GET", headers, body, signal }), url);
  };
