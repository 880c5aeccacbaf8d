import type { FastifyReply } from "fastify";
import type { Http } from "../base/deps.ts";
import { onDisconnect } from "../base/disconnect.ts";
import { recheckAfterWait } from "../base/recheck.ts";
import { waitForEnd } from "../turns/turnEnd.ts";
import { endHeaders, type AttachedTurn } from "../turns/turnHandle.ts";
import { recordAbandonedTurn } from "../turns/recordAbandonedTurn.ts";
import { keepAlive } from "./keepAlive.ts";
import { findResponse } from "./lookups.ts";
import { readStoredResponse } from "./storedResponse.ts";

/**
 * Sends the whole response once its turn has ended. A turn that waits for a person may take days, so at the time limit the answer
 * has the status `in_progress`. The turn continues when the client disconnects.
 */
export async function answerBuffered(
  http: Http,
  reply: FastifyReply,
  attached: AttachedTurn,
  scope: string,
  disconnected: AbortSignal,
) {
  const { turn, reader } = attached;
  onDisconnect(disconnected, () => {
    reader.close();
    void recordAbandonedTurn(http, turn);
  });
  const connection = keepAlive(reply, http);
  try {
    const end = attached.end ?? (await waitForEnd(http, turn, reader, disconnected));
    if (!end && disconnected.aborted) return reply.hijack();
    if (end) {
      http.metrics.turn(end);
      reply.headers(endHeaders(end));
    }
    await recheckAfterWait(reply);
    const response = await readStoredResponse(
      http,
      await findResponse(http, turn.organization_id, scope, turn.turn_id),
    );
    return await connection.answer(response);
  } catch (error) {
    // the turn exists, so a repeated request can get its answer
    await recordAbandonedTurn(http, turn);
    return connection.fail(error, turn.turn_id);
  } finally {
    connection.stop();
    reader.close();
  }
}
