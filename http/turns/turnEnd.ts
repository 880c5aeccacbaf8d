import { currentTime } from "#events/clock.ts";
import { Unavailable, type TurnEnd } from "#events/ports.ts";
import { NO_OUTPUT, NO_USAGE } from "#events/thread.ts";
import { getTurn, type TurnRow } from "#projections/turns/query.ts";
import type { Http } from "../base/deps.ts";
import { ApiError, badGateway } from "../base/errors.ts";
import type { FrameReader } from "./frameReader.ts";
import type { TurnHandle } from "./turnHandle.ts";

type Needs = Pick<Http, "db" | "turnHistory" | "isTurnRunning">;
type AwaitedTurn = Pick<TurnHandle, "organization_id" | "turn_id" | "thread_id" | "ends_by">;

/** After this time without a frame, the read model is queried for the turn's end. */
export const SILENCE_MS = 2_000;
/** If a turn still has no end this long after its time limit, the sweep has failed to end it. */
const OVERDUE_MS = 60_000;

/** Returns how the turn ended, or undefined while it runs. */
export function turnEndFrom(row: TurnRow): TurnEnd | undefined {
  const said = row.said ?? NO_OUTPUT;
  const usage = row.usage ?? NO_USAGE;
  switch (row.status) {
    case "running":
      return undefined;
    case "completed":
      return { status: "completed", said, usage, finish_reason: row.finish_reason ?? "stop", model: row.model };
    case "failed":
    case "stopped": {
      const code = row.code !== null && { code: row.code };
      return { status: row.status, said, usage, message: row.error ?? "The turn failed.", model: row.model, ...code };
    }
    case "refused":
      return { status: "refused", code: row.code, message: row.error ?? "The model provider refused the request." };
  }
}

/**
 * The request's time is up, but the turn waits or has waited for a person. Each such wait extends the turn's own limit, so the request
 * is answered without the turn's end.
 */
const OUTLIVES_REQUEST = Symbol("outlives its request");

function outlivesRequest({ parked_at, ends_by }: TurnRow, turn: AwaitedTurn): boolean {
  return currentTime() > turn.ends_by && (parked_at !== null || ends_by.getTime() > turn.ends_by);
}

type StoredEnd = TurnEnd | typeof OUTLIVES_REQUEST | undefined;

async function readEnd(http: Needs, turn: AwaitedTurn): Promise<StoredEnd> {
  const { organization_id, turn_id, thread_id } = turn;
  // one query for all waiting turns: a query each for thousands, with their texts, would keep the database busy
  if (currentTime() <= turn.ends_by && (await http.isTurnRunning(turn_id))) return undefined;
  const row = await getTurn(http.db, organization_id, turn_id);
  if (!row && (await http.turnHistory.isDeleted(thread_id, turn_id)))
    throw new ApiError("thread_not_found", "The thread was deleted while its turn was running.", {
      param: "x-thread-id",
    });
  return row && (turnEndFrom(row) ?? (outlivesRequest(row, turn) ? OUTLIVES_REQUEST : undefined));
}

async function readStoredEnd(http: Needs, turn: AwaitedTurn): Promise<StoredEnd> {
  const end = await readEnd(http, turn).catch((error: unknown) => {
    if (error instanceof Unavailable) return undefined;
    throw error;
  });
  if (!end && currentTime() > turn.ends_by + OVERDUE_MS)
    throw new ApiError("unavailable", "The turn did not end within its time limit; its outcome is unknown.");
  return end;
}

/**
 * Reads the end of a turn from the read model. Returns undefined while the turn runs, and while the database is unavailable: the
 * turn continues meanwhile, and a client that got a 503 would start another one. Throws only final errors: 404 if the thread was
 * deleted, 503 if the turn is long overdue.
 */
export async function storedEnd(http: Needs, turn: AwaitedTurn): Promise<TurnEnd | undefined> {
  const end = await readStoredEnd(http, turn);
  return end === OUTLIVES_REQUEST ? undefined : end;
}

/** Waits for a turn to end. Returns undefined if the client disconnects first, or if the turn outlives the request. */
export async function waitForEnd(
  http: Needs,
  turn: AwaitedTurn,
  reader: FrameReader,
  disconnected: AbortSignal,
): Promise<TurnEnd | undefined> {
  while (!disconnected.aborted) {
    const frame = await reader.next(SILENCE_MS);
    if (frame?.type === "end") return frame.end;
    const end = frame || disconnected.aborted ? undefined : await readStoredEnd(http, turn);
    if (end) return end === OUTLIVES_REQUEST ? undefined : end;
  }
  return undefined;
}

/**
 * The error for a failed turn: 502 without code for a provider's failure, 402 or 429 for a budget, 400 for an unknown model, 503
 * if the worker could not read the turn's input.
 */
export function turnFailure(end: Extract<TurnEnd, { message: string }>): ApiError {
  const { code } = end;
  if (end.status === "refused" && code === "model_not_found")
    return new ApiError("model_not_found", end.message, { param: "model" });
  const retryAfterMs = end.status === "refused" ? end.retry_after_ms : undefined;
  // the requests of a failed turn were paid for, and a retry would send them and run the tools again
  const isFinal = end.status === "failed";
  if (code === "budget_exceeded" || code === "budget_reserved" || code === "unavailable")
    return new ApiError(code, end.message, { isFinal, ...(retryAfterMs !== undefined && { retryAfterMs }) });
  return badGateway(end.message || "The model provider returned an error.", undefined, retryAfterMs);
}
