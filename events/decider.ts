import type { ErrorCode } from "./errorCodes.ts";
import type { Command } from "./envelope.ts";
import type { NewEvent } from "./define.ts";

/** The open work of a stream, as its head row shows it to the sweep. */
export interface WorkStatus {
  /** Null: no work. `waiting`: no work before `due_at`. Any other value: open work. */
  status: string | null;
  /** RFC 3339: when the sweep must handle the stream, even if a live worker holds it. */
  due_at: string | null;
  /** Id of the worker process that holds the work; null if none does. */
  worker: string | null;
}

/**
 * The rules of one aggregate. `decide` returns the new events (`[]`: nothing to do) or throws a Rejection.
 * `evolve` folds public fields only: the state is stored in the stream's head row, which erasure does not clean. A personal
 * field may enter the state only if the event that erases it also removes it from the state (a provider's credential).
 * Raise `version` when the shape of the state changes: stored states of another version are folded again from the events.
 */
export interface Decider<S, C extends Command = Command, E extends NewEvent = NewEvent> {
  version: number;
  initial: S;
  decide(command: C, state: S): E[];
  evolve(state: S, event: E): S;
  workStatus?(state: S): WorkStatus;
  /** Converts the state to and from its form in the head row, if the two differ. Raise `version` when that form changes. */
  stored?: StoredState<S>;
  /** Things whose data keys these events destroy. */
  erases?(events: E[], stream: string): KeyErasure;
  /** Whether a joined command may destroy things. No hold may cover them, because joined commands are not checked for holds. */
  erasesWhenJoined?: boolean;
  /** Claims on unique names that these events hold and release. */
  claims?(events: E[]): { hold: Claim[]; release: string[] };
  /** Ids of commands that may be tried again, because these events delete their outcome; `state` is the state before the events. */
  forgets?(events: E[], state: S): string[];
}

export interface StoredState<S> {
  write(state: S): unknown;
  read(stored: unknown): S;
}

/** Single things, or all things whose keys were created in a stream. */
export interface KeyErasure {
  things?: string[];
  streams?: string[];
}

/** A unique name, and the rejection for a command that claims it while another stream holds it. */
export interface Claim {
  name: string;
  rejection: { code: ErrorCode; message: string; param?: string };
}
