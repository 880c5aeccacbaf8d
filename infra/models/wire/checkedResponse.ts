import { parseLargeJson } from "#events/readLargeJson.ts";
import type { AnswerMemory } from "#services/turns/model.ts";
import type { IncomingResponse } from "../send.ts";
import { checkedChunks } from "./body.ts";

/** Maximum bytes of an answer that is read as text, such as an error message. */
const MAX_TEXT = 128 * 1024;

/** The part of a Response that we read. A real Response would pass every chunk through two web streams. */
export function checkedResponse(incoming: IncomingResponse, url: string, share?: AnswerMemory): Response {
  const { status } = incoming;
  // checks depend on how the reader parses the body, not on the content type that the provider claims
  const body = checkedChunks(incoming, "events", share);
  const bytes = async () => Buffer.concat(await Array.fromAsync(checkedChunks(incoming, "whole", share)));
  const text = async () => (await bytes()).subarray(0, MAX_TEXT).toString("utf8");
  const json = async () => parseLargeJson(await bytes());
  const ok = status >= 200 && status < 300;
  return {
    status,
    ok,
    get headers() {
      return incoming.headers;
    },
    url,
    body,
    text,
    json,
  } as unknown as Response;
}
