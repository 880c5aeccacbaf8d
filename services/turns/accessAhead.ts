import type { NewEvent } from "#events/define.ts";
import { dropOldest } from "#events/dropOldest.ts";
import { findModelAccess, type CredentialSources, type ModelAccess } from "./modelAccess.ts";

/** Look-ups that wait for their turns. Those of turns that never begin are pushed out by newer ones. */
const MAX_KEPT = 1_000;
/** An older look-up is made again: the organization may have removed the credential meanwhile. */
const MAX_AGE_MS = 1_000;

interface LookUp {
  access: Promise<ModelAccess>;
  since: number;
}

/** Credentials and prices that are looked up while the start of a turn is committed, so that its provider is asked sooner. */
export interface AccessAhead {
  /** Begins the look-ups of the turns that these events start on this process. Never throws. */
  begin(organization: string, events: NewEvent[]): void;
  /** The look-up of a turn, once. Undefined when there is none, or an old one. It rejects as findModelAccess does. */
  take(turn_id: string): Promise<ModelAccess> | undefined;
}

/** @param worker the id of this process: other processes run their turns with their own look-ups */
export function createAccessAhead(sources: CredentialSources, worker: string): AccessAhead {
  const lookUps = new Map<string, LookUp>();
  return {
    begin(organization, events) {
      for (const { type, data } of events) {
        if (type !== "TurnStarted") continue;
        const turn = data as { turn_id: string; model: string; route?: object; worker: string | null };
        // the targets of an alias are looked up one by one, when they are asked
        if (turn.worker !== worker || turn.route) continue;
        const access = findModelAccess(sources, organization, turn.model);
        // the turn reports the error, if it begins
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
