import type { Db } from "#projections/projection.ts";
import { isTimedId, positionBeforeId } from "./idFinder.ts";

/** The range of positions of one command's events, which are committed together. */
interface Span {
  /** The position before the first event. */
  after: number;
  upTo: number;
}

/** Maximum events of one command, including others in the same commit. */
const MAX_COMMITTED = 10_000;
/** Maximum events searched for a command whose outcome is no longer stored. */
const MAX_EVENTS = 50_000;

async function positionAt(db: Db, organization: string, condition: string, value: number): Promise<number | undefined> {
  const rows = await db.query<{ position: string }>(
    `select position from log.events where organization_id = $1 and position ${condition} offset ${MAX_EVENTS} limit 1`,
    [organization, value],
  );
  return rows[0] && Number(rows[0].position);
}

/** Finds the events of a command: for two days by its outcome, later by the time in its id. For ids without a time, searches the newest events. */
async function findCommandSpan(db: Db, organization: string, command_id: string): Promise<Span> {
  const [outcome] = await db.query<{ position: string }>(
    "select position from log.commands where command_id = $1 and organization_id = $2",
    [command_id, organization],
  );
  const newest = Number.MAX_SAFE_INTEGER;
  if (outcome) return { after: Number(outcome.position) - MAX_COMMITTED, upTo: Number(outcome.position) };
  if (!isTimedId(command_id))
    return { after: (await positionAt(db, organization, "< $2 order by position desc", newest)) ?? 0, upTo: newest };
  const after = await positionBeforeId(db, command_id);
  return { after, upTo: (await positionAt(db, organization, "> $2 order by position", after)) ?? newest };
}

/** Adds conditions to a statement with these values: ` and type = $3` for `type = ?`. An undefined value adds none. */
export const addConditions =
  (values: unknown[]) =>
  (condition: string, value: unknown): string =>
    value === undefined ? "" : ` and ${condition.replace("?", `$${values.push(value)}`)}`;

/** An SQL condition for the events of a command. `also` comes from `addConditions`. */
export async function narrowToCommand(
  db: Db,
  organization: string,
  command_id: string | undefined,
  also: ReturnType<typeof addConditions>,
): Promise<string> {
  if (command_id === undefined) return "";
  const { after, upTo } = await findCommandSpan(db, organization, command_id);
  return also("position > ?", after) + also("position <= ?", upTo) + also("command_id = ?", command_id);
}
