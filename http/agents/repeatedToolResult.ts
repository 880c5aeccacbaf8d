import { findTurnByCall, listRounds } from "#projections/turns/query.ts";
import type { Http } from "../base/deps.ts";
import { findOrWait } from "../base/findById.ts";
import { findResponse, type ResponseRow } from "./lookups.ts";
import { readResponseEnd } from "./storedResponse.ts";

/** Ids of the calls in a response that the client, not the server, must run. */
async function ownCalls({ db }: Pick<Http, "db">, row: ResponseRow): Promise<string[]> {
  const calls = readResponseEnd(row)
    ? (row.said?.calls ?? [])
    : (await listRounds(db, row.id)).flatMap((round) => round.calls.filter(({ client }) => client));
  return calls.map(({ id }) => id);
}

/**
 * Finds the response whose calls these results answer, although the server ran, or still runs, the calls itself. The last call
 * identifies the response. Undefined if there is none, or if one of the results answers a call that the client was asked to run.
 * Waits for the read model first: with a stale one, a fast client would start a second turn.
 */
export async function findRepeatedTurn(
  http: Http,
  organization: string,
  scope: string,
  calls: string[],
): Promise<ResponseRow | undefined> {
  const call = calls.at(-1);
  if (call === undefined) return undefined;
  const turn_id = await findOrWait(
    () => findTurnByCall(http.db, organization, scope, call),
    () => http.waitUntilCurrent(["turns"]),
  );
  if (!turn_id) return undefined;
  const row = await findResponse(http, organization, scope, turn_id);
  const own = await ownCalls(http, row);
  return calls.some((id) => own.includes(id)) ? undefined : row;
}
