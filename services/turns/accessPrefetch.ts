import type { NewEvent } from "#events/define.ts";
import { dropOldest } from "#events/dropOldest.ts";
import { findModelAccess, type CredentialSources, type ModelAccess } from "./modelAccess.ts";

/** Look-ups kept for their turns. Newer ones push out those of turns that never begin. */
const MAX_KEPT = 1_000;
/** Older look-ups are repeated, because the organization may have removed the credential since. */
const MAX_AGE_MS = 1_000;

interface LookUp {
  access: Promise<ModelAccess>;
  since: number;
}

/** Looks up credentials and prices while the start of a turn is being committed, so that its provider is asked sooner. */
export interface AccessPrefetch {
  /** Begins the look-ups for the turns that these events start in this process. Never throws. */
  begin(organization: string, events: NewEvent[]): void;
  /** Returns a turn's look-up, and forgets it. Undefined if there is none or it is too old. Rejects as findModelAccess does. */
  take(turn_id: string): Promise<ModelAccess> | undefined;
}

/** @param worker the id of this process: turns that other processes run are looked up there */
export function createAccessPrefetch(sources: CredentialSources, worker: string): AccessPrefetch {
  const lookUps = new Map<string, LookUp>();
  return {
    begin(organization, events) {
      for (const { type, data } of events) {
        if (type !== "TurnStarted") continue;
        const turn = data as { turn_id: string; model: string; route?: object; worker: string | null };
        // the targets of an alias are looked up one by one when they are asked
        if (turn.worker !== worker || turn.route) continue;
        const access = findModelAccess(sources, organization, turn.model);
        // if the turn begins, it reports the error
        access.catch(() => {});
        lookUps.set(turn.turn_id, { access, since: performance.now() });
        dropOldest(lookUps, MAX_KEPT);
      }
    },
    take(turn_id) {
      const lookUp = lookUps.get(turn_id);
      lookUps.delete(turn_id);
      return lookUp && performance.now() - lookUp.since < MAX_AGE_MS ? lookUp.access : undefined;
    },
  };
}
