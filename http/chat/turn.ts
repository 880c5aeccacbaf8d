import { streamOf } from "#events/ids.ts";
import { Unavailable, type TurnEnd } from "#events/ports.ts";
import { NO_USAGE, type Said } from "#events/thread.ts";
import { getTurn, type TurnRow } from "#projections/turns/query.ts";
import type { Http } from "../deps.ts";
import { ApiError, badGateway } from "../errors.ts";
import type { Feed } from "./feed.ts";

/** A turn that a connection waits for. */
export interface TurnInHand {
  organization_id: string;
  turn_id: string;
  thread_id: string;
  command_id: string;
  model: string;
  include_usage: boolean;
  /** Unix seconds. */
  created: number;
  /** Epoch milliseconds; some time later nothing more is to be expected. */
  ends_by: number;
}

/** Without a frame for so long, the read model is asked whether the turn has ended. */
export const SILENCE_MS = 2_000;
/** The sweep ends a turn that is past its time; after this one nobody does. */
const OVERDUE_MS = 60_000;

const NOTHING: Said = { text: "", reasoning: "", citations: [] };

/** How a turn ended, from its row; undefined while it runs. */
export function endOf(row: TurnRow): TurnEnd | undefined {
  const said = row.said ?? NOTHING;
  const usage = row.usage ?? NO_USAGE;
  switch (row.status) {
    case "running":
      return undefined;
    case "completed":
      return { status: "completed", said, usage, finish_reason: row.finish_reason ?? "stop" };
    case "failed":
    case "stopped":
      return { status: row.status, said, usage, message: row.error ?? "The turn failed." };
    case "refused":
      return { status: "refused", code: row.code, message: row.error ?? "The model provider refused the request." };
  }
}

async function wasDeleted({ db }: Pick<Http, "db">, { thread_id }: TurnInHand): Promise<boolean> {
  const sql = "select from log.events where stream = $1 and type = 'ThreadDeleted'";
  return (await db.query(sql, [streamOf("thread", thread_id)])).length > 0;
}

async function look(http: Pick<Http, "db">, turn: TurnInHand): Promise<TurnEnd | undefined> {
  const row = await getTurn(http.db, turn.organization_id, turn.turn_id);
  if (!row && (await wasDeleted(http, turn)))
    throw new ApiError("thread_not_found", "The thread was deleted while its turn was running.", {
      param: "x-thread-id",
    });
  return row && endOf(row);
}

/**
 * The end of a turn as the read model knows it; undefined while it runs, and while the database cannot be asked: the turn
 * goes on meanwhile, and a client that were told to come back would start another.
 * Throws what is final: 404 when its thread was deleted meanwhile, 503 when it is long overdue.
 */
export async function storedEnd(http: Pick<Http, "db">, turn: TurnInHand): Promise<TurnEnd | undefined> {
  const end = await look(http, turn).catch((error: unknown) => {
    if (error instanceof Unavailable) return undefined;
    throw error;
  });
  if (!end && Date.now() > turn.ends_by + OVERDUE_MS)
    throw new ApiError("unavailable", "The turn did not end in its time; its outcome is not known yet.");
  return end;
}

/** Waits for a turn to end; undefined when the signal is aborted first. */
export async function waitForEnd(
  http: Pick<Http, "db">,
  turn: TurnInHand,
  feed: Feed,
  gone: AbortSignal,
): Promise<TurnEnd | undefined> {
  while (!gone.aborted) {
    const frame = await feed.next(SILENCE_MS);
    if (frame?.type === "end") return frame.end;
    const end = frame || gone.aborted ? undefined : await storedEnd(http, turn);
    if (end) return end;
  }
  return undefined;
}

/** What a turn that came to nothing answers: the provider's refusal is a 502 without code, an unknown model a 400. */
export function failureOf(end: Extract<TurnEnd, { message: string }>): ApiError {
  if (end.status === "refused" && end.code === "model_not_found")
    return new ApiError("model_not_found", end.message, { param: "model" });
  return badGateway(end.message || "The model provider returned an error.");
}
