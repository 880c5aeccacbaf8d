import { toPicodollars } from "#events/money.ts";
import type { Db } from "../projection.ts";
import {
  decodeModels,
  namedModel,
  roundsBetween,
  spentBetween,
  type RoundsRow,
  type SpentRow,
  type SplitBy,
} from "./query.ts";
import type { OpenTurn, Spending } from "./reservations.ts";

/** Maximum step back of the database's clock. Otherwise, event times follow their order; larger steps are detected within a minute. */
const MAX_CLOCK_STEP_MS = 250;

interface Day {
  day: Date;
  nextDay: Date;
  /** Spending before this time is not read. */
  from: Date;
  /** Ids of turns; the answer says which have ended. Turns that reserved nothing or were never recorded are not included. */
  turnsToLookUp: string[];
  /** Ids of turns with rounds before `from`. */
  with_rounds: string[];
  splitBy: SplitBy;
}

/** The usage of a day, and the unfinished turns of the same snapshot. */
export interface DaySpending extends Omit<Spending, "before" | "today" | "at" | "followed_until"> {
  /** Up to this time, the read model contains all events; null: it is empty. */
  split: Date | null;
  /** Whether it contains all events of the log. */
  is_complete: boolean;
  /** The spending until `split`. */
  early: SpentRow[];
  late: SpentRow[];
  /** The rounds in `early`. */
  rounds: RoundsRow[];
  /** Ids of those turns `with_rounds` whose rounds are gone, because the turn has ended and its whole usage replaces them. */
  without_rounds: string[];
}

type OpenAmount = "reserved" | "counted" | "counted_today";
/** The row as PostgreSQL returns it. */
type StoredDay = Omit<DaySpending, "open"> & {
  open: (Omit<OpenTurn, OpenAmount> & Record<OpenAmount, string>)[];
};

const rowsOf = (query: string): string => `(select coalesce(json_agg(row), '[]') from (${query}) row)`;
/** In whole milliseconds, like the times of usage. Otherwise the usage of that millisecond would be in two readings. */
const SPLIT = `(select date_trunc('milliseconds', recorded_at) - interval '${MAX_CLOCK_STEP_MS} milliseconds'
   from log.events where position = c.position)`;

/** A single statement, so that each turn is either in the sums or unfinished. */
export async function readSpending(
  db: Db,
  organization: string,
  { day, nextDay, from, turnsToLookUp, with_rounds, splitBy }: Day,
): Promise<DaySpending> {
  const [row] = await db.query<StoredDay>(
    `select c.position, ${SPLIT} as split, c.position >= (select position from log.head) as is_complete,
       ${rowsOf(spentBetween("$2", `least(greatest($2, ${SPLIT}), $3)`, splitBy))} as early,
       ${rowsOf(roundsBetween("$2", `least(greatest($2, ${SPLIT}), $3)`, splitBy))} as rounds,
       (select coalesce(json_agg(id), '[]') from unnest($6::uuid[]) id
          where not exists (select from read.usage u where u.source_id = id and u.part >= 0)) as without_rounds,
       ${rowsOf(spentBetween(`greatest($2, ${SPLIT})`, "$3", splitBy))} as late,
       ${rowsOf(`
          select r.turn_id, s.principal, s.project_id, s.agent_id, s.user_mark, ${namedModel(splitBy)} as model, r.reserved::text as reserved, r.attempt,
                 coalesce(rounds.cost, 0)::text as counted, coalesce(rounds.today, 0)::text as counted_today
          from read.usage_reservations r join read.usage_sources s on s.id = r.turn_id
            cross join lateral (select sum(u.cost) as cost, sum(u.cost) filter (where u.at >= $5) as today
              from read.usage u where u.source_id = r.turn_id) rounds
          where r.organization_id = $1`)} as open,
       (select coalesce(json_agg(s.id), '[]') from read.usage_sources s where s.id = any($4::uuid[])
          and s.organization_id = $1 and not exists (select from read.usage_reservations r where r.organization_id = $1 and r.turn_id = s.id)) as settled
     from log.checkpoints c where c.name = 'usage'`,
    [organization, from, nextDay, turnsToLookUp, day, with_rounds],
  );
  const { open, early, late, rounds, ...read } = row!;
  const turns = (await decodeModels(open)).map((turn) => ({
    ...turn,
    reserved: toPicodollars(turn.reserved),
    counted: toPicodollars(turn.counted),
    counted_today: toPicodollars(turn.counted_today),
  }));
  return {
    ...read,
    early: await decodeModels(early),
    late: await decodeModels(late),
    rounds: await decodeModels(rounds),
    open: turns,
  };
}
