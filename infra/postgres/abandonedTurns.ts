import type { AbandonedTurns, TurnStart } from "#http/base/ports.ts";
import type { Db } from "#projections/projection.ts";
import { HAS_CONNECTION, IS_SILENT } from "./heartbeat.ts";

const IS_RECENT = "c.recorded_at > now() - interval '15 minutes' and c.rejection is null and c.position > 0";

const JOIN_TURN = `join log.events e on e.position = c.position
    left join read.turns t on t.command_id = c.command_id and t.thread_id = substr(e.stream, length('thread-') + 1)::uuid`;

/** Makes the claiming process the one that waits for the turn: if it dies too, the next retry notices. */
const TAKE_OVER_FOUND = `
  update log.commands c set http = $3 from found, log.events e
  where c.command_id = found.command_id and c.organization_id = $2 and e.position = c.position
  returning c.command_id, e.position, e.stream`;

/** For a client that disconnected from a live process, which recorded that. Deleting the record makes the claim exclusive. */
const CLAIM_UNANSWERED = `
  with found as (
    delete from ops.unanswered where command_id = (
      select u.command_id from ops.unanswered u join log.commands c on c.command_id = u.command_id ${JOIN_TURN}
      where c.fingerprint = $1 and c.organization_id = $2 and ${IS_RECENT} and t.status is distinct from 'stopped'
      order by c.recorded_at limit 1 for update of u skip locked)
    returning command_id)
  ${TAKE_OVER_FOUND}`;

/**
 * For a process that died before it could answer: no database connection has its name, or its heartbeat is older than 10 s. Locking
 * the command makes the claim exclusive.
 */
const CLAIM_ORPHANED = `
  with found as (
    select c.command_id
    from log.commands c
    join ops.workers w on w.worker = c.http and (${IS_SILENT} or not ${HAS_CONNECTION})
    ${JOIN_TURN}
    where c.fingerprint = $1 and c.organization_id = $2 and ${IS_RECENT} and e.type = 'TurnStarted'
      and t.status is distinct from 'stopped'
      and (t.ended_at is null or t.ended_at > w.beat_at - interval '5 seconds')
    order by c.recorded_at limit 1 for update of c skip locked)
  ${TAKE_OVER_FOUND}`;

const FIND_RUNNING = `
  select from log.commands c ${JOIN_TURN}
  where c.fingerprint = $1 and c.organization_id = $2 and ${IS_RECENT} and e.type = 'TurnStarted'
    and coalesce(t.status, 'running') = 'running'
  limit 1`;

/** `process` is the id of this process among the workers. */
export const openAbandonedTurns = (db: Db, process: string): AbandonedTurns => ({
  async add(command_id) {
    await db.query(
      `with old as (delete from ops.unanswered where left_at < now() - interval '1 hour')
       insert into ops.unanswered (command_id) values ($1) on conflict (command_id) do nothing`,
      [command_id],
    );
  },
  async claim(organization, fingerprint) {
    for (const query of [CLAIM_UNANSWERED, CLAIM_ORPHANED]) {
      const [found] = await db.query<TurnStart>(query, [fingerprint, organization, process]);
      if (found) return { ...found, position: Number(found.position) };
    }
    return undefined;
  },
  isRunning: async (organization, fingerprint) =>
    (await db.query(FIND_RUNNING, [fingerprint, organization])).length > 0,
  async takeOver(organization, command_id) {
    await db.query(
      `with note as (delete from ops.unanswered where command_id = $1)
       update log.commands set http = $3 where command_id = $1 and organization_id = $2 and http is distinct from $3`,
      [command_id, organization, process],
    );
  },
  async remove(organization, command_id) {
    const rows = await db.query(
      `delete from ops.unanswered u using log.commands c
       where u.command_id = $1 and c.command_id = $1 and c.organization_id = $2 and c.http = $3 returning u.command_id`,
      [command_id, organization, process],
    );
    return rows.length > 0;
  },
});
