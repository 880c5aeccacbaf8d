import type { CommandOutcomes } from "#http/base/ports.ts";
import type { Db } from "#projections/projection.ts";

/** Maximum claims per command. They are appended after the events of the thing itself. */
const MAX_CLAIMS = 10;

const FIND = `
  select c.fingerprint, c.rejection, e.stream, e.version, e.position from log.commands c
  left join lateral (
    select e.stream, e.version, e.position from log.events e
    where e.position > c.position - ${MAX_CLAIMS} and e.position <= c.position
      and e.command_id = c.command_id and e.organization_id = c.organization_id and e.stream not like 'claim-%'
    order by e.position desc limit 1
  ) e on true
  where c.command_id = $1 and c.organization_id = $2`;

interface Row {
  fingerprint: string | null;
  rejection: string | null;
  stream: string | null;
  version: number | null;
  position: number | null;
}

export const openCommandOutcomes = (db: Db): CommandOutcomes => ({
  async find(organization, command_id) {
    const [row] = await db.query<Row>(FIND, [command_id, organization]);
    if (!row) return undefined;
    const { fingerprint, rejection, stream, version, position } = row;
    return {
      fingerprint,
      rejection: rejection === null ? null : JSON.parse(rejection),
      event: stream === null ? null : { stream, version: Number(version), position: Number(position) },
    };
  },
});
