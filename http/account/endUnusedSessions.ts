import { streamName } from "#events/ids.ts";
import { EndSession } from "#events/session.ts";
import { findUnusedSessions } from "#projections/sessions/query.ts";
import type { UserRow } from "#projections/users/query.ts";
import type { Http } from "../base/deps.ts";

/** Sessions of a person. More than the devices and programs that anybody signs in with. */
const MAX_SESSIONS = 100;
/** Maximum sessions that one sign-in ends. People may have many more of earlier releases, which had no limit. */
const MAX_ENDED = 10;

/**
 * Makes room for another session of a person: ends the one that was unused for the longest time. Not exact, because the read model
 * lags and concurrent sign-ins do not see each other.
 */
export async function endUnusedSessions(
  http: Pick<Http, "db" | "send">,
  request_id: string,
  { id, organization_id }: Pick<UserRow, "id" | "organization_id">,
): Promise<void> {
  const unused = await findUnusedSessions(http.db, id, { keep: MAX_SESSIONS - 1, limit: MAX_ENDED });
  const about = { organization_id, principal: `person:${id}` as const, request_id };
  await Promise.all(
    unused.map((session_id) =>
      http.send(EndSession, { ...about, stream: streamName("session", session_id), data: { session_id } }),
    ),
  );
}
