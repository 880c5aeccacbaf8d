import type { Db } from "#projections/projection.ts";
import { isTimedId, positionBeforeId } from "./idFinder.ts";

/** Positions that the events of one command lie in: they are committed together. */
interface Span {
  /** Before the first. */
  after: number;
  upTo: number;
}

/** Events of one command, with those of the same commit between them. */
const MAX_COMMITTED = 10_000;
/** Events that are looked through for a command whose outcome is stored no more. */
const MAX_EVENTS = 50_000;

async function positionAt(db: Db, organization: string, condition: string, value: number): Promise<number | undefined> {
  const rows = await db.query<{ position: string }>(
    `select position from log.events where organization_id = $1 and position ${condition} offset ${MAX_EVENTS} limit 1`,
    [organization, value],
  );
  return rows[0] && Number(rows[0].position);
}

/**
 * Where the events of a command are. Its outcome says so for two days; later the time in its id does, and of an id that says none
 * the newest events are looked through.
 */
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

/** A condition for the events of a command. `also` adds a condition with a value to a statement. */
export async function narrowToCommand(
  db: Db,
  organization: string,
  command_id: string | undefined,
  also: (condition: string, value: unknown) => string,
): Promise<string> {
  if (command_id === undefined) return "";
  const { after, upTo } = await findCommandSpan(db, organization, command_id);
  return also("position > ?", after) + also("position <= ?", upTo) + also("command_id = ?", command_id);
}
