import type { FastifyReply } from "fastify";
import type { Http } from "../base/deps.ts";
import { onDisconnect } from "../base/disconnect.ts";
import { recheckAfterWait } from "../base/recheck.ts";
import { waitForEnd } from "../turns/turnEnd.ts";
import { endHeaders, type AttachedTurn } from "../turns/turnHandle.ts";
import { noteUnanswered } from "../turns/unanswered.ts";
import { findResponse } from "./lookups.ts";
import { storedResponse } from "./storedResponse.ts";

/** Clients give up on headers after minutes; from here on they get white space, which JSON allows (wire facts). */
const KEEP_ALIVE_MS = 15_000;

/**
 * Answers with the whole response once its turn has ended. A turn that waits for a person may take days: then the answer comes
 * at the time limit with the status `in_progress`. The turn continues when the client disconnects.
 */
export async function answerBuffered(
  http: Http,
  reply: FastifyReply,
  attached: AttachedTurn,
  scope: string,
  disconnected: AbortSignal,
) {
  const { turn, reader } = attached;
  const { raw } = reply;
  onDisconnect(disconnected, () => {
    reader.close();
    void noteUnanswered(http, turn);
  });
  const keepAlive = setInterval(() => writeSpace(reply), KEEP_ALIVE_MS);
  try {
    const end = attached.end ?? (await waitForEnd(http, turn, reader, disconnected));
    if (!end && disconnected.aborted) return reply.hijack();
    if (end) {
      http.metrics.turn(end);
      reply.headers(endHeaders(end));
    }
    await recheckAfterWait(reply);
    const response = await storedResponse(http, await findResponse(http, turn.organization_id, scope, turn.turn_id));
    if (!raw.headersSent) return response;
    raw.end(JSON.stringify(response));
    return reply;
  } catch (error) {
    // the turn has run or still runs: a repetition of the request gets its answer
    await noteUnanswered(http, turn);
    if (!raw.headersSent) throw error;
    http.logger.warn({ err: error, turn_id: turn.turn_id }, "response could not be sent");
    return void raw.destroy();
  } finally {
    clearInterval(keepAlive);
    reader.close();
  }
}

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
