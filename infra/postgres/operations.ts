import type { Operations, ParkedStream, RunningProcess } from "#http/base/ports.ts";
import type { Db } from "#projections/projection.ts";

export const openOperations = (db: Db): Operations => ({
  processes: () =>
    db.query<RunningProcess>(
      `select worker as id, role, beat_at from ops.workers where beat_at > now() - interval '10 minutes'
       order by role, worker limit 200`,
    ),
  parked: (organization, limit) =>
    db.query<ParkedStream>(
      `select p.projection, p.stream, p.error, p.parked_at
       from log.parked p join log.streams s on s.stream = p.stream
       where s.organization_id = $1 order by p.parked_at desc limit $2`,
      [organization, limit],
    ),
});
