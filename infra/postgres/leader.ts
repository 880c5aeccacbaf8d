import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";

/** How long a standby waits before it asks again. */
const ASK_EVERY_MS = 1_000;
/** How often a leader lets the server hear of it; after the silence it is taken for hung, and another one leads. */
const BEAT_EVERY_MS = 2_000;
const SILENCE = "10 seconds";
/**
 * Who holds the lock; one that is silent loses its session. Asked on a connection that is there: one of its own each second took
 * 6.5 ms, for each of four followers in every standby.
 */
const HELD = `
  select case when state_change < clock_timestamp() - interval '${SILENCE}' then pg_terminate_backend(pid) end
    from pg_locks join pg_stat_activity using (pid)
   where locktype = 'advisory' and granted and objsubid = 2
     and database = (select oid from pg_database where datname = current_database())
     and classid::bigint = hashtext('svc')::bigint & 4294967295
     and objid::bigint = hashtext($1)::bigint & 4294967295`;
/** A lost network must not keep the lock: the server gives the session up after 5 + 3 x 2 s of silence. */
const SESSION = `set tcp_keepalives_idle = 5; set tcp_keepalives_interval = 2; set tcp_keepalives_count = 3`;

/** Lets the server hear of a leader until the signal. Throws when the connection is lost. */
async function beat(client: pg.PoolClient, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await client.query("select");
    await sleep(BEAT_EVERY_MS, undefined, { signal }).catch(() => {});
  }
}

/**
 * Runs `work` in one process of the deployment at a time. Leadership is a session advisory lock on a connection of
 * its own: when that connection breaks, the lock is gone, the signal aborts, and whoever gets the lock next goes on. So it is
 * when the process is stopped or hangs, and is silent for 10 s.
 */
export function lead(
  pool: pg.Pool,
  name: string,
  work: (signal: AbortSignal) => Promise<void>,
  onError: (error: unknown) => void,
) {
  const stopped = new AbortController();

  const term = async (): Promise<void> => {
    const { rows: looked } = await pool.query({ name: "held", text: HELD, values: [name] });
    if (looked.length > 0) return;
    const client = await pool.connect();
    const lost = new AbortController();
    client.on("error", () => lost.abort());
    client.on("end", () => lost.abort());
    const signal = AbortSignal.any([lost.signal, stopped.signal]);
    try {
      await client.query(SESSION);
      const { rows } = await client.query("select pg_try_advisory_lock(hashtext('svc'), hashtext($1)) as mine", [name]);
      if (!rows[0].mine) return;
      const beating = beat(client, lost.signal).catch(() => lost.abort());
      await Promise.all([work(signal).finally(() => lost.abort()), beating]);
    } finally {
      // The connection is closed, not given back: that is what frees the lock for certain.
      client.release(true);
    }
  };

  const terms = (async () => {
    while (!stopped.signal.aborted) {
      await term().catch(onError);
      await sleep(ASK_EVERY_MS, undefined, { signal: stopped.signal }).catch(() => {});
    }
  })();

  return {
    async stop(): Promise<void> {
      stopped.abort();
      await terms;
    },
  };
}
