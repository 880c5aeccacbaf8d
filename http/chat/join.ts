import { partsOf } from "#events/ids.ts";
import type { Http } from "../deps.ts";
import { doneBefore } from "../idempotency.ts";
import type { Earlier, Identity } from "./begin.ts";

/*
 * A request with an idempotency key takes up the turn that it began before, whatever became of what it names since.
 * A retry without an idempotency key joins an earlier turn of the same request whose answer nobody heard (wire facts:
 * Errors, retries, transport). A fingerprint covers organization, principal, user, path, thread and body.
 */

interface Found {
  command_id: string;
  /** Of the event that started it. */
  position: number;
  stream: string;
}

const LATELY = "c.recorded_at > now() - interval '15 minutes' and c.rejection is null and c.position > 0";

/** The process that asks is the one that waits for the turn from now on: were it to die too, the next retry finds that out. */
const TAKE = `
  update log.commands c set http = $3 from found, log.events e
  where c.command_id = found.command_id and c.organization_id = $2 and e.position = c.position
  returning c.command_id, e.position, e.stream`;

const ITS_TURN = `join log.events e on e.position = c.position
    left join read.turns t on t.command_id = c.command_id and t.thread_id = substr(e.stream, length('thread-') + 1)::uuid`;

/**
 * Its connection ended here or in another live process, which noted that, and nobody has cancelled it since. Taking the note
 * makes it happen once.
 */
const LEFT = `
  with found as (
    delete from ops.unanswered where command_id = (
      select u.command_id from ops.unanswered u join log.commands c on c.command_id = u.command_id ${ITS_TURN}
      where c.fingerprint = $1 and c.organization_id = $2 and ${LATELY} and t.status is distinct from 'stopped'
      order by c.recorded_at limit 1 for update of u skip locked)
    returning command_id)
  ${TAKE}`;

/**
 * Its process died before it can have answered: its connections to the database, which bear its name, are gone, or it has
 * been silent for 10 s. Taking the command makes it happen once.
 */
const ORPHANED = `
  with found as (
    select c.command_id
    from log.commands c
    join ops.workers w on w.worker = c.http
      and (w.beat_at < now() - interval '10 seconds'
           or not exists (select from pg_stat_activity a where a.application_name = c.http))
    ${ITS_TURN}
    where c.fingerprint = $1 and c.organization_id = $2 and ${LATELY} and e.type = 'TurnStarted'
      and t.status is distinct from 'stopped'
      and (t.ended_at is null or t.ended_at > w.beat_at - interval '5 seconds')
    order by c.recorded_at limit 1 for update of c skip locked)
  ${TAKE}`;

const earlier = (organization_id: string, { command_id, stream, position }: Found): Earlier => ({
  organization_id,
  command_id,
  thread_id: partsOf(stream).id,
  position: Number(position),
});

/** The turn that this request began before under its idempotency key. */
export async function findNamed(
  { db }: Pick<Http, "db">,
  organization: string,
  { command_id, fingerprint }: Pick<Identity, "command_id" | "fingerprint">,
): Promise<Earlier | undefined> {
  const found = await doneBefore(db, organization, command_id, fingerprint);
  return found && earlier(organization, { ...found, command_id });
}

/** The turn that a retry may join. Undefined when it must run anew. */
export async function joinEarlier(
  { db, httpId }: Pick<Http, "db" | "httpId">,
  organization: string,
  fingerprint: string,
): Promise<Earlier | undefined> {
  for (const query of [LEFT, ORPHANED]) {
    const [found] = await db.query<Found>(query, [fingerprint, organization, httpId]);
    if (found) return earlier(organization, found);
  }
  return undefined;
}
