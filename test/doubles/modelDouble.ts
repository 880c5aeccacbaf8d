import type { ServerResponse } from "node:http";
import { startLoopback, type ReceivedRequest } from "./loopback.ts";

/** A response that the test writes itself; a body that is no string is sent as JSON. */
export type RawReply =
  | { status: number; headers?: Record<string, string>; body?: unknown }
  | { write(response: ServerResponse): void | Promise<void> };

/** Where an answer breaks off: within an event, after its output, or after its output with a regular end of the transfer. */
export type Cut = "mid-event" | "after-text" | "end";

const sendRaw = (reply: RawReply, response: ServerResponse): void | Promise<void> => {
  if ("write" in reply) return reply.write(response);
  const text = typeof reply.body === "string" ? reply.body : JSON.stringify(reply.body ?? {});
  response.writeHead(reply.status, { "content-type": "application/json", ...reply.headers }).end(text);
};

/**
 * A provider on a loopback port that answers as its script says. `handle` serves the provider's own API; it gets the scripted answer,
 * or undefined for an echo of the last user message.
 */
export async function startModelDouble<Answer extends object>(
  handle: (request: ReceivedRequest, response: ServerResponse, answer?: Answer) => void | Promise<void>,
) {
  type Reply = Answer | RawReply;
  type Script = (request: ReceivedRequest) => Reply | undefined;
  let script: Script = () => undefined;
  const { origin, requests, close } = await startLoopback((request, response) => {
    const reply = script(request);
    if (reply && ("write" in reply || "status" in reply)) return sendRaw(reply, response);
    return handle(request, response, reply);
  });
  return {
    url: origin,
    /** The last 1,000 requests, oldest first. */
    requests,
    /** The replies to all requests from now on. */
    script: (next: Script | Reply): void => void (script = typeof next === "function" ? next : () => next),
    /** The replies to prompts from now on, in order; the last one is repeated. Forgets the requests so far. */
    answers(...replies: Reply[]): void {
      let n = 0;
      requests.length = 0;
      script = ({ method }) => (method === "POST" ? replies[Math.min(n++, replies.length - 1)] : undefined);
    },
    /** Requests for an answer, oldest first. */
    prompts: (): ReceivedRequest[] => requests.filter(({ method }) => method === "POST"),
    close,
  };
}
