import type { FastifyReply } from "fastify";
import type { Http } from "../base/deps.ts";

/** Clients give up on headers after minutes; from here on they get white space, which JSON allows (wire facts). */
const KEEP_ALIVE_MS = 15_000;

function writeSpace(reply: FastifyReply): void {
  const { raw } = reply;
  if (!raw.headersSent) {
    reply.hijack();
    raw.writeHead(200, {
      ...(reply.getHeaders() as Record<string, string>),
      "content-type": "application/json; charset=utf-8",
    });
  }
  raw.write(" ");
}

/** Keeps the connection of a buffered answer alive until the answer is there. */
export function keepAlive(reply: FastifyReply, { logger }: Pick<Http, "logger">) {
  const { raw } = reply;
  const timer = setInterval(() => writeSpace(reply), KEEP_ALIVE_MS);
  return {
    stop: (): void => clearInterval(timer),
    /** For the route to return. */
    answer<R extends object>(response: R): R | FastifyReply {
      if (!raw.headersSent) return response;
      raw.end(JSON.stringify(response));
      return reply;
    },
    /** After white space an error can only break the connection off. */
    fail(error: unknown, turn_id: string): void {
      if (!raw.headersSent) throw error;
      logger.warn({ err: error, turn_id }, "response not sent");
      raw.destroy();
    },
  };
}
