import { streamName } from "#events/ids.ts";
import type { TurnEnd } from "#events/ports.ts";
import { getTurn, findTurnStartedAt } from "#projections/turns/query.ts";
import type { Http } from "../base/deps.ts";
import { ApiError } from "../base/errors.ts";
import { isReadableInTime } from "../base/send.ts";
import { openFrameReader, type FrameReader } from "./frameReader.ts";
import type { PreviousTurn } from "./previousTurn.ts";
import { turnEndFrom } from "./turnEnd.ts";
import { turnLimitMs, type AttachedTurn } from "./turnHandle.ts";
import { recordRefusedTurn } from "./recordAbandonedTurn.ts";

/** Options of this delivery of the request; everything else is taken from the first delivery. */
interface ResumeOptions {
  include_usage: boolean;
}

const threadDeleted = () =>
  new ApiError("thread_not_found", "The thread of this request was deleted.", { param: "x-thread-id" });

/** A failed turn keeps its partial answer and is not run again, so its key has no other outcome. */
const FINAL = "This is the outcome of this Idempotency-Key; send a new key to ask again.";

const endForKey = (end: TurnEnd | undefined, hasKey: boolean): TurnEnd | undefined =>
  hasKey && end?.status === "failed" ? { ...end, message: `${end.message} ${FINAL}` } : end;

/** Attaches to a turn that an earlier request started. Throws 503 while the turn cannot be read; a later retry may resume it. */
export async function resumeTurn(http: Http, options: ResumeOptions, previous: PreviousTurn): Promise<AttachedTurn> {
  try {
    return await takeOver(http, options, previous);
  } catch (error) {
    await recordRefusedTurn(http, previous);
    throw error;
  }
}

async function takeOver(http: Http, options: ResumeOptions, previous: PreviousTurn): Promise<AttachedTurn> {
  const { organization_id, command_id, thread_id, position, hasKey } = previous;
  // waits for the newest event of the thread, not only for the turn's start: a client that has seen the end must get it again
  const newest = (await http.log.newestPosition(streamName("thread", thread_id))) ?? position;
  if (!(await isReadableInTime(http, ["turns"], Math.max(newest, position))))
    throw new ApiError("unavailable", "The turn of this request is running but not readable yet; try again shortly.");
  await http.abandonedTurns.takeOver(organization_id, command_id);
  const turn_id = await findTurnStartedAt(http.db, organization_id, thread_id, position);
  if (!turn_id) throw threadDeleted();
  const reader = openFrameReader(http.frames, organization_id, turn_id);
  try {
    const attached = await attach(http, options, { organization_id, command_id, turn_id }, reader);
    return { ...attached, end: endForKey(attached.end, hasKey) };
  } catch (error) {
    reader.close();
    throw error;
  }
}

async function attach(
  http: Http,
  { include_usage }: ResumeOptions,
  { organization_id, command_id, turn_id }: { organization_id: string; command_id: string; turn_id: string },
  reader: FrameReader,
): Promise<AttachedTurn> {
  const row = await getTurn(http.db, organization_id, turn_id);
  if (!row) throw threadDeleted();
  const end = turnEndFrom(row);
  // if this fails, the missing frames are loaded when the next one arrives
  if (!end) await reader.catchUp().catch(() => {});
  const { thread_id, model } = row;
  const ends_by = row.ends_by.getTime();
  const created = (ends_by - turnLimitMs(http, row.streamed)) / 1000;
  return {
    reader,
    end,
    turn: { organization_id, turn_id, thread_id, command_id, model, include_usage, created, ends_by },
  };
}
