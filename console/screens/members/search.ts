import type { Member } from "../../api/members.ts";
import type { Role } from "../../api/types.ts";

export const MEMBER_STATES = ["active", "locked out"] as const;
export type MemberState = (typeof MEMBER_STATES)[number];

/** The parameters in the list's address. */
export interface MemberSearch {
  /** Part of the name or of the e-mail address. */
  q?: string | undefined;
  role?: Role | undefined;
  state?: MemberState | undefined;
  page?: number | undefined;
  /** Shows removed members instead. */
  view?: "former" | undefined;
}

export const stateOf = ({ active }: Member): MemberState => (active ? "active" : "locked out");

/** Whether any filter is set. */
export const isFiltered = ({ q, role, state }: MemberSearch): boolean =>
  [q, role, state].some((value) => value !== undefined);

export function matches(member: Member, { q = "", role, state }: MemberSearch): boolean {
  if (role && member.role !== role) return false;
  if (state && stateOf(member) !== state) return false;
  return [member.name, member.email].some((text) => text.toLowerCase().includes(q.toLowerCase()));
}
