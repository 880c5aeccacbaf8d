import { toPicodollars } from "#events/money.ts";
import type { Db } from "../projection.ts";
import { decodeModels, namedModel, spentBetween, type SpentRow } from "./query.ts";
import type { OpenTurn, Spending } from "./reservations.ts";

/** The usage of a day, with the turns that have not ended in the same snapshot. */
interface StoredSpending {
  position: number;
  followed_at: Date | null;
  early: SpentRow[];
  late: SpentRow[];
  open: (Omit<OpenTurn, "reserved" | "counted"> & { reserved: string; counted: string })[];
  settled: string[];
}

interface Day {
  day: Date;
  nextDay: Date;
  /** What was spent before is not read. */
  from: Date;
  /** Where the usage is split in an early and a late part. */
  split: Date;
  /** Turns of which it says whether they have ended; one that reserved nothing, and one that is not recorded, is not among them. */
  asked: string[];
  /** Whether budgets of models need to know what turns named. */
  byModel: boolean;
}

interface ReadDay extends Omit<Spending, "before" | "today"> {
  /** When the last event was recorded that the read model contains. */
  followed_at: Date | null;
  early: SpentRow[];
  late: SpentRow[];
}

const rowsOf = (query: string): string => `(select coalesce(json_agg(row), '[]') from (${query}) row)`;

/** One statement, so that each turn is either in the sums or open. */
export async function readSpending(
  db: Db,
  organization: string,
  { day, nextDay, from, split, asked, byModel }: Day,
): Promise<ReadDay> {
  const [row] = await db.query<StoredSpending>(
    `select c.position, (select recorded_at from log.events where position = c.position) as followed_at,
       ${rowsOf(spentBetween("$2", "$3", byModel))} as early,
       ${rowsOf(spentBetween("$3", "$4", byModel))} as late,
       ${rowsOf(`
          select r.turn_id, s.principal, s.project_id, s.agent_id, s.user_mark, ${namedModel(byModel)} as model, r.reserved::text as reserved,
                 coalesce((select sum(u.cost) from read.usage u where u.source_id = r.turn_id and u.at >= $6), 0)::text as counted
          from read.usage_reservations r join read.usage_sources s on s.id = r.turn_id
          where r.organization_id = $1`)} as open,
       (select coalesce(json_agg(s.id), '[]') from read.usage_sources s where s.id = any($5::uuid[])
          and s.organization_id = $1 and not exists (select from read.usage_reservations r where r.turn_id = s.id)) as settled
     from log.checkpoints c where c.name = 'usage'`,
    [organization, from, split, nextDay, asked, day],
  );
  const { open, early, late, ...read } = row!;
  const turns = decodeModels(open).map((turn) => ({
    ...turn,
    reserved: toPicodollars(turn.reserved),
    counted: toPicodollars(turn.counted),
  }));
  return { ...read, early: decodeModels(early), late: decodeModels(late), open: turns };
}
