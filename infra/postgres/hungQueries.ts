import type pg from "pg";

/** A query without an answer for this long is suspected: its connection may have been dropped silently. */
const SUSPECT_MS = 1_000;
/** If the server sent its last answer longer ago than this, the answer was lost, or the query never arrived. */
const ANSWERED = "500 milliseconds";
/** If PostgreSQL does not list a backend, its connection normally gets closed; after this time it no longer can be. */
const MISSING_MS = 5_000;

/** Suspects are found on a pool's connections and compared with the server's view over another connection. */
const LOOK = `
  select a.pid, a.state is distinct from 'active' and a.state_change < clock_timestamp() - interval '${ANSWERED}' as is_idle
  from pg_stat_activity a where a.pid = any($1)`;
/** Ends the server's side, too, because an abandoned session could keep locks. */
const TERMINATE =
  "select pg_terminate_backend(pid) from pg_stat_activity where pid = any($1) and application_name = $2";

/** The driver's internal state of a connection, as far as it is needed here. */
interface Connection {
  processID?: number;
  connection: { stream: { destroy(error?: Error): void } };
  _getActiveQuery(): unknown;
}

interface Suspect {
  connection: Connection;
  pid: number;
  since: number;
}

/**
 * Watches the queries on a pool's connections without touching them. `check` destroys connections on which no answer can arrive any
 * more, because the server is not working on the query. It leaves alone those that the server still works on.
 */
export function watchQueries(pool: pg.Pool, name: string) {
  const connections = new Set<Connection>();
  const pending = new Map<Connection, { query: unknown; since: number }>();
  pool.on("connect", (client) => void connections.add(client as unknown as Connection));
  pool.on("remove", (client) => {
    connections.delete(client as unknown as Connection);
    pending.delete(client as unknown as Connection);
  });

  const findSuspects = (now: number): Suspect[] => {
    const suspects: Suspect[] = [];
    for (const connection of connections) {
      const query = connection._getActiveQuery();
      const known = pending.get(connection);
      if (!query) pending.delete(connection);
      else if (known?.query !== query) pending.set(connection, { query, since: now });
      else if (now - known.since >= SUSPECT_MS && connection.processID)
        suspects.push({ connection, pid: connection.processID, since: known.since });
    }
    return suspects;
  };

  return {
    /** Checks over `observer`, a connection outside the pool. Returns the number of destroyed connections. */
    async check(observer: Pick<pg.ClientBase, "query">): Promise<number> {
      const now = performance.now();
      const suspects = findSuspects(now);
      const pids = suspects.map(({ pid }) => pid);
      const { rows } = await observer.query<{ pid: number; is_idle: boolean }>({
        name: "look",
        text: LOOK,
        values: [pids],
      });
      if (suspects.length === 0) return 0;
      const idle = new Map(rows.map((row) => [row.pid, row.is_idle]));
      const dead = suspects.filter(({ pid, since }) => idle.get(pid) ?? now - since > MISSING_MS);
      for (const { connection } of dead)
        connection.connection.stream.destroy(new Error("The connection was dropped silently"));
      if (dead.length > 0) await observer.query(TERMINATE, [dead.map(({ pid }) => pid), name]);
      return dead.length;
    },
    /** Restarts the timers of all queries after this process itself was stopped or busy. */
    forgive(): void {
      pending.clear();
    },
  };
}
