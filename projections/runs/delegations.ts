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
  /** Whether somebody may decide by it now, or has voted by it. */
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

/** Delegations of one approval, in order. */
export const parseDelegations = (stored: StoredDelegation[]): Delegation[] =>
  stored.map(({ by, by_name, to, to_name, reason, at, ...rest }) => ({
    by: parsePerson(by, by_name),
    to: parsePerson(to, to_name),
    reason: decode(reason),
    at: new Date(at),
    ...rest,
  }));
