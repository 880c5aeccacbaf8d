import type { FastifyReply } from "fastify";
import type { Begun } from "../chat/begin.ts";
import { waitForEnd } from "../chat/turn.ts";
import { noteUnanswered, onGone } from "../chat/unanswered.ts";
import type { Http } from "../deps.ts";
import { findResponse } from "./find.ts";
import { storedResponse } from "./stored.ts";

/** A client gives up on headers after some minutes: from then on it gets white space, which JSON allows (wire facts). */
const PATIENCE_MS = 15_000;

/** Answers with the whole response once its turn has ended. A client that goes away leaves the turn running. */
export async function answerBuffered(http: Http, reply: FastifyReply, begun: Begun, scope: string, gone: AbortSignal) {
  const { turn, feed } = begun;
  onGone(gone, () => {
    feed.close();
    void noteUnanswered(http, turn);
  });
  let waiting: NodeJS.Timeout | undefined;
  const beat = () => {
    if (!reply.raw.headersSent) {
      reply.hijack();
      reply.raw.writeHead(200, {
        ...(reply.getHeaders() as Record<string, string>),
        "content-type": "application/json; charset=utf-8",
      });
    }
    reply.raw.write(" ");
  };
  try {
    waiting = setInterval(beat, PATIENCE_MS);
    const end = begun.end ?? (await waitForEnd(http, turn, feed, gone));
    if (!end) return reply.hijack();
    http.metrics.turn(end);
    const response = await storedResponse(http, await findResponse(http, turn.organization_id, scope, turn.turn_id));
    if (!reply.raw.headersSent) return response;
    reply.raw.end(JSON.stringify(response));
    return reply;
  } catch (error) {
    // the turn has run or goes on: its request, when it comes again, is answered with it
    await noteUnanswered(http, turn);
    if (!reply.raw.headersSent) throw error;
    http.logger.warn({ err: error, turn_id: turn.turn_id }, "a response could not be told");
    return void reply.raw.destroy();
  } finally {
    clearInterval(waiting);
    feed.close();
  }
}
