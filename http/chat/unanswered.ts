import type { ServerResponse } from "node:http";
import type { Http } from "../deps.ts";
import type { TurnInHand } from "./turn.ts";

type Needs = Pick<Http, "db" | "logger">;

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
export async function noteUnanswered({ db, logger }: Needs, { command_id }: TurnInHand): Promise<void> {
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

/** Takes an unanswered turn; false when somebody else has taken it, or nobody had left it. */
export async function takeUnanswered({ db }: Pick<Http, "db">, commandId: string): Promise<boolean> {
  const rows = await db.query("delete from ops.unanswered where command_id = $1 returning command_id", [commandId]);
  return rows.length > 0;
}
