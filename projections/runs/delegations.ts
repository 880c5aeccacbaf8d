import { decode, decodeOrNull } from "../projection.ts";

/** `name` is null if the person no longer exists. */
export interface NamedPerson {
  id: string;
  name: string | null;
}

/** An assignee delegated the approval to somebody else. */
export interface Delegation {
  by: NamedPerson;
  to: NamedPerson;
  reason: string;
  at: Date;
  /** Whether `to` may decide approvals now. */
  present: boolean;
<<<<<<< HEAD
  /** Whether it has an effect: it is not over and `to` is present, or `to` has used it, by voting or by delegating with effect. */
=======
  /** Whether somebody may decide by it now, or has voted by it. */
>>>>>>> 2a5a35040ebb1c5edc06a5503d979adb1113d893
  has_effect: boolean;
}

export interface StoredDelegation {
  by: string;
  by_name: string | null;
  to: string;
  to_name: string | null;
  reason: string;
  at: string;
  present: boolean;
  has_effect: boolean;
}

export const parsePerson = (id: string, name: string | null): NamedPerson => ({ id, name: decodeOrNull(name) });

<<<<<<< HEAD
/**
 * Whether the receiver of a delegation has delegated with effect in turn. `later`: the delegations since. What the person does after
 * another delegation to them belongs to that one.
 */
function isPassedOn(later: StoredDelegation[], person: string): boolean {
  const received = later.findIndex(({ to }) => to === person);
  const own = received === -1 ? later : later.slice(0, received);
  return own.some(({ by, to, has_effect }, n) => by === person && (has_effect || isPassedOn(later.slice(n + 1), to)));
}

=======
>>>>>>> 2a5a35040ebb1c5edc06a5503d979adb1113d893
/** Delegations of one approval, in order. */
export const parseDelegations = (stored: StoredDelegation[]): Delegation[] =>
  stored.map(({ by, by_name, to, to_name, reason, at, ...rest }) => ({
    by: parsePerson(by, by_name),
    to: parsePerson(to, to_name),
    reason: decode(reason),
    at: new Date(at),
    ...rest,
  }));
