import type { FastifyReply } from "fastify";
import { encodeInPieces } from "#events/largeJson.ts";
import type { Http } from "../base/deps.ts";

/** Clients drop a silent connection after minutes, so white space is sent at this interval, which JSON allows. */
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
    /** Resolves with the value that the route returns. */
    async answer<R extends object>(response: R): Promise<R | FastifyReply> {
      clearInterval(timer);
      if (!raw.headersSent) return response;
      // a response repeats its instructions, which may have 64 MiB
      for (const piece of await encodeInPieces(response)) raw.write(piece);
      raw.end();
      return reply;
    },
    /** Once white space was sent, an error can only close the connection. */
    fail(error: unknown, turn_id: string): void {
      if (!raw.headersSent) throw error;
      logger.warn({ err: error, turn_id }, "response not sent");
      raw.destroy();
    },
  };
}
