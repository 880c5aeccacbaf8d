import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import type { Gate } from "#events/ports.ts";
import type { Db } from "#projections/projection.ts";

/** How often a standby checks whether the lock is free. */
const STANDBY_MS = 1_000;
/** Interval at which a leader queries its session. If it is silent for too long, a standby considers it hung and ends its session. */
const HEARTBEAT_MS = 750;
const SILENCE = "3 seconds";
const FROM_HOLDER = `
    from pg_locks join pg_stat_activity using (pid)
   where locktype = 'advisory' and granted and objsubid = 2
     and database = (select oid from pg_database where datname = current_database())
     and classid::bigint = hashtext('svc')::bigint & 4294967295
     and objid::bigint = hashtext($1)::bigint & 4294967295`;
/**
 * Finds the holder of the lock, and ends its session if it is silent. A session that executes a statement is not silent. Runs on a
 * pooled connection: a new connection each second took 6.5 ms, for each of four followers in every standby.
 */
const FIND_HOLDER = `
  select case when state <> 'active' and state_change < clock_timestamp() - interval '${SILENCE}' then pg_terminate_backend(pid) end
  ${FROM_HOLDER}`;

/** Runs until the signal aborts. Writes on `client`, the connection that holds the lock, fail once the lock is lost. */
type Work = (signal: AbortSignal, client: pg.PoolClient) => Promise<void>;

interface LeaderOptions {
  /** Called about once a second while another process leads. */
  standBy?(): Promise<void>;
  /** Pause after a term or a failed attempt. */
  retry_ms?: number;
  /** While it is closed, this process does not lead. */
  gate?: Gate;
}

/** Whether a process of the deployment leads. */
export async function hasLeader(db: Db, name: string): Promise<boolean> {
  return (await db.query(`select ${FROM_HOLDER}`, [name])).length > 0;
}

/** Sends heartbeats until the signal. Throws if the connection is lost. */
async function sendHeartbeats(client: pg.PoolClient, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    // an empty query, because a statement would fail in a failed transaction that is not rolled back yet
    await client.query("");
    await sleep(HEARTBEAT_MS, undefined, { signal }).catch(() => {});
  }
}

/**
 * Runs `work` in one process of the deployment at a time. Leadership is a session advisory lock on a dedicated connection: if that
 * breaks, the signal aborts and another process takes over. The same happens if the process is stopped, or hangs for 3 s.
 */
export function runAsLeader(
  pool: pg.Pool,
  name: string,
  work: Work,
  onError: (error: unknown) => void,
  { standBy, retry_ms = STANDBY_MS, gate }: LeaderOptions = {},
) {
  const stopped = new AbortController();

  /** False when another process leads. */
  const tryToLead = async (): Promise<boolean> => {
    if (gate?.isOpen() === false) return false;
    const { rows: holders } = await pool.query({ name: "find-holder", text: FIND_HOLDER, values: [name] });
    if (holders.length > 0) return false;
    const client = await pool.connect();
    const lost = new AbortController();
    client.on("error", () => lost.abort());
    client.on("end", () => lost.abort());
    const leaveGate = gate?.onChange((isOpen) => isOpen || lost.abort());
    try {
      const { rows } = await client.query("select pg_try_advisory_lock(hashtext('svc'), hashtext($1)) as locked", [
        name,
      ]);
      if (!rows[0].locked || gate?.isOpen() === false) return false;
      const heartbeats = sendHeartbeats(client, lost.signal).catch(() => lost.abort());
      const signal = AbortSignal.any([lost.signal, stopped.signal]);
      await Promise.all([work(signal, client).finally(() => lost.abort()), heartbeats]);
      return true;
    } finally {
      leaveGate?.();
      // Closes the connection instead of returning it to the pool, because only that is certain to free the lock.
      client.release(true);
    }
  };

  const elections = (async () => {
    let pause_ms = 0;
    while (!stopped.signal.aborted) {
      try {
        const led = await tryToLead();
        if (!led) await standBy?.();
        pause_ms = led ? retry_ms : STANDBY_MS;
      } catch (error) {
        onError(error);
        pause_ms = retry_ms;
      }
      await sleep(pause_ms, undefined, { signal: stopped.signal }).catch(() => {});
    }
  })();

  return {
    async stop(): Promise<void> {
      stopped.abort();
      await elections;
    },
  };
}
