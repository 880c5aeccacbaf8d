import type { ServerResponse } from "node:http";
import type { Http } from "../deps.ts";
import type { TurnInHand } from "./turn.ts";

type Needs = Pick<Http, "db" | "logger">;
type Turn = Pick<TurnInHand, "organization_id" | "command_id">;

/** Aborted when the connection ends before the whole answer was written. */
export function goneSignal(raw: ServerResponse): AbortSignal {
  const gone = new AbortController();
  if (raw.destroyed) gone.abort();
  raw.once("close", () => {
    if (!raw.writableFinished) gone.abort();
  });
  return gone.signal;
}

/** Runs once the client is gone, at once when it is already. */
export function onGone(gone: AbortSignal, act: () => void): void {
  if (gone.aborted) act();
  else gone.addEventListener("abort", act, { once: true });
}

/** Notes that nobody heard a turn's answer, so that a retry may join it. */
export async function noteUnanswered({ db, logger }: Needs, { command_id }: Turn): Promise<void> {
  try {
    await db.query(
      `with old as (delete from ops.unanswered where left_at < now() - interval '1 hour')
       insert into ops.unanswered (command_id) values ($1) on conflict (command_id) do nothing`,
      [command_id],
    );
  } catch (error) {
    logger.warn({ err: error, command_id }, "could not note an unanswered turn");
  }
}

/** From now on this process waits for the turn, in place of whoever did: no earlier connection that ends may stop it. */
export async function takeOver({ db, httpId }: Pick<Http, "db" | "httpId">, turn: Turn): Promise<void> {
  await db.query(
    `with note as (delete from ops.unanswered where command_id = $1)
     update log.commands set http = $3 where command_id = $1 and organization_id = $2 and http is distinct from $3`,
    [turn.command_id, turn.organization_id, httpId],
  );
}

/** Takes back the note that nobody heard a turn's answer; false when somebody else has taken the turn. */
export async function takeUnanswered({ db, httpId }: Pick<Http, "db" | "httpId">, turn: Turn): Promise<boolean> {
  const rows = await db.query(
    `delete from ops.unanswered u using log.commands c
     where u.command_id = $1 and c.command_id = $1 and c.organization_id = $2 and c.http = $3 returning u.command_id`,
    [turn.command_id, turn.organization_id, httpId],
  );
  return rows.length > 0;
}

/** How many connections of this process read each turn as a stream. */
const readers = new Map<string, number>();
const count = (turn_id: string, more: number): void => {
  const left = (readers.get(turn_id) ?? 0) + more;
  if (left > 0) readers.set(turn_id, left);
  else readers.delete(turn_id);
};

/** Counts a reader until the function it gives is called for the first time. */
export function reads({ turn_id }: Pick<TurnInHand, "turn_id">): () => void {
  let reading = true;
  count(turn_id, 1);
  return () => {
    if (reading) count(turn_id, -1);
    reading = false;
  };
}

export const isRead = ({ turn_id }: Pick<TurnInHand, "turn_id">): boolean => readers.has(turn_id);
