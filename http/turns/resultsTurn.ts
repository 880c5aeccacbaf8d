import type { FastifyRequest } from "fastify";
import { findTurnStartedAt, getTurn } from "#projections/turns/query.ts";
import type { Http } from "../base/deps.ts";
import { nextCommand } from "../base/idempotency.ts";
import { isReadableInTime } from "../base/send.ts";
import { findPreviousTurn, type PreviousTurn, type TurnIdentity } from "./previousTurn.ts";

/** Also true if the turn was deleted. */
async function hasFailed({ db }: Http, { organization_id, thread_id, position }: PreviousTurn): Promise<boolean> {
  const id = await findTurnStartedAt(db, organization_id, thread_id, position);
  const row = id && (await getTurn(db, organization_id, id));
  return !row || row.status === "failed" || row.status === "stopped" || row.status === "refused";
}

/**
 * Finds the turn that an equal request with tool results has started. Each call takes one result, so such a request is a
 * repetition even without an Idempotency-Key. Returns undefined after a failed turn: the request then starts another one.
 */
export async function findResultsTurn(
  http: Http,
  request: FastifyRequest,
  sent: TurnIdentity,
): Promise<{ identity: TurnIdentity; previous: PreviousTurn | undefined }> {
  const asResults = { ...sent, id: sent.fingerprint, hasKey: true };
  let identity = sent.hasKey ? sent : { ...sent, ...nextCommand(asResults, "results") };
  for (;;) {
    const previous = await findPreviousTurn(http, request, identity);
    if (!previous || sent.hasKey) return { identity, previous };
    const isReadable = await isReadableInTime(http, ["turns"], previous.position);
    if (!isReadable || !(await hasFailed(http, previous))) return { identity, previous };
    identity = { ...identity, ...nextCommand(identity, "again") };
  }
}
