import { newId, streamName } from "#events/ids.ts";
import { openKeyring } from "#infra/keyring.ts";
import { openLog } from "#infra/postgres/log.ts";
import { openPool } from "#infra/postgres/pool.ts";
import { change, named } from "#test/log/log.ts";

/** Appends eight events: the ends of six sessions, an organization with a sealed name, the end of a session of another organization. */
export async function appendEightEvents(url: string, key: Uint8Array) {
  const pool = openPool(url, { max: 2, name: "test" });
  const log = openLog(pool, openKeyring(key));
  const sessions = Array.from({ length: 6 }, () => streamName("session", newId()));
  for (const stream of sessions) await log.append(change(stream));
  const organization = named("Ada & Söhne \u2028 \u009b31m");
  await log.append(change(organization.stream, organization));
  const other = newId();
  await log.append(change(streamName("session", newId()), { organization: other }));
  return { pool, log, sessions, organization: organization.stream, other };
}
