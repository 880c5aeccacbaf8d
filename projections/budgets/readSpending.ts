import { toPicodollars } from "#events/money.ts";
import type { Db } from "../projection.ts";
import { SPENT, type SpentRow } from "./query.ts";
import type { OpenTurn, Spending } from "./reservations.ts";

/** The usage of a period, with the turns that have not ended in the same snapshot. */
interface StoredSpending {
  position: number;
  spent: SpentRow[];
  open: (Omit<OpenTurn, "reserved" | "counted"> & { reserved: string; counted: string })[];
  settled: string[];
}

/**
 * One statement, so that each turn is either in the sums or open. `asked`: turns of which it says whether they have ended;
 * one that reserved nothing, and one that is not recorded, is not among them.
 */
export async function readSpending(
  db: Db,
  organization: string,
  { from, to, asked }: { from: Date; to: Date; asked: string[] },
): Promise<Omit<Spending, "before" | "today"> & { spent: SpentRow[] }> {
  const [row] = await db.query<StoredSpending>(
    `select (select position from log.checkpoints where name = 'usage') as position,
       (select coalesce(json_agg(spent), '[]') from (${SPENT}) spent) as spent,
       (select coalesce(json_agg(open), '[]') from (
          select r.turn_id, s.principal, s.project_id, s.agent_id, s.user_mark, r.reserved::text as reserved,
                 coalesce((select sum(u.cost) from read.usage u where u.source_id = r.turn_id and u.at >= $2), 0)::text as counted
          from read.usage_reservations r join read.usage_sources s on s.id = r.turn_id
          where r.organization_id = $1) open) as open,
       (select coalesce(json_agg(s.id), '[]') from read.usage_sources s where s.id = any($4::uuid[])
          and s.organization_id = $1 and not exists (select from read.usage_reservations r where r.turn_id = s.id)) as settled`,
    [organization, from, to, asked],
  );
  const { position, spent, open, settled } = row!;
  const turns = open.map((turn) => ({
    ...turn,
    reserved: toPicodollars(turn.reserved),
    counted: toPicodollars(turn.counted),
  }));
  return { position, spent, open: turns, settled };
}
