import type { Command } from "./envelope.ts";
import type { NewEvent } from "./define.ts";

/** What the head row of a stream shows to the sweep: is there work, until when, and who has it. */
export interface Head {
  /** Null: no work. `waiting`: none before `due_at`. Anything else: open work. */
  status: string | null;
  /** RFC 3339: when the sweep must look, whoever works on it. */
  due_at: string | null;
  /** Id of the worker process that holds the work; null when nobody does. */
  worker: string | null;
}

/**
 * The rules of one aggregate. `decide` answers what happens (`[]`: nothing to do) or throws a Rejection;
 * `evolve` folds events, from public fields: the state is kept in the stream's head row, where no erasure reaches it. A personal
 * field may be kept only where the event that erases it also takes it out of the state (a provider's credential).
 * Raise `version` when the shape of the state changes: kept states of another version are folded anew.
 */
export interface Decider<S, C extends Command = Command, E extends NewEvent = NewEvent> {
  version: number;
  initial: S;
  decide(command: C, state: S): E[];
  evolve(state: S, event: E): S;
  head?(state: S): Head;
  /** Things whose data keys end with these events. */
  erases?(events: E[], stream: string): Erasure;
  /** Claims (names that must be unique) that these events take and give back. */
  claims?(events: E[]): { hold: Claim[]; release: string[] };
  /** Ids of commands whose outcome is forgotten with these events, so that they may be tried again; `state` is the one before. */
  forgets?(events: E[], state: S): string[];
}

/** Single things, or every thing whose key was made in a stream. */
export interface Erasure {
  things?: string[];
  streams?: string[];
}

/** A unique name, and the rejection that a second holder gets. */
export interface Claim {
  name: string;
  taken: { code: string; message: string; param?: string };
}
