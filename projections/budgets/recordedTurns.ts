import { currentTime } from "#events/clock.ts";
import type { Db } from "../projection.ts";
import { findTurns, listRecentTurns, type TurnState } from "./recentTurns.ts";
import { subjectsOf } from "./subjects.ts";
import { WINDOW_SECONDS, type TurnCounts } from "./turnCounts.ts";

/** Unfinished turns older than this are looked up, because this process may have missed their end. */
const LOOK_UP_AFTER_MS = 3_000;
/** A turn that is not recorded after this time never began. */
const UNRECORDED_MS = 30_000;

interface CountedOrganization {
  db: Db;
  organization: string;
  counts: TurnCounts;
}

/** Applies a turn as found in a read model. `now`: when its end or pause counts; undefined: when it happened. */
function applyState(counts: TurnCounts, { turn_id, attempt, ended_at, parked_at, tokens }: TurnState, now?: number) {
  if (ended_at) counts.end(turn_id, tokens, now ?? ended_at.getTime());
  else if (parked_at) counts.park(turn_id, attempt, now ?? parked_at.getTime());
}

/** Counts the turns of the last minute: those that run here first, because the read models may not have them yet. */
export async function countRecentTurns({ db, organization, counts }: CountedOrganization): Promise<void> {
  counts.countUnrated();
  const since = new Date(currentTime() - WINDOW_SECONDS * 1000);
  for (const turn of await listRecentTurns(db, organization, since)) {
    const { turn_id, attempt, streamed, expected } = turn;
    const begun = { turn_id, subjects: subjectsOf(turn), tokens: expected, streamed, attempt };
    counts.begin({ ...begun, at: turn.started_at.getTime() });
    applyState(counts, turn);
  }
}

/** Ends turns whose end no process has announced: their client disconnected, or their process died. */
export async function endUnannounced({ db, organization, counts }: CountedOrganization, now: number): Promise<void> {
  const open = counts.openBefore(now - LOOK_UP_AFTER_MS);
  if (open.length === 0) return;
  const found = await findTurns(db, organization, open);
  for (const turn of found) applyState(counts, turn, now);
  const recorded = new Set(found.map(({ turn_id }) => turn_id));
  for (const turn_id of counts.openBefore(now - UNRECORDED_MS)) if (!recorded.has(turn_id)) counts.end(turn_id, 0, now);
}
