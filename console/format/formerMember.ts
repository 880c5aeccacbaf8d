import type { Role } from "../api/types.ts";
import type { EventFields } from "./describeEvent.ts";
import { formatDay, shortId } from "./index.ts";

/** A removed person. */
export interface FormerMember {
  id: string;
  /** The last role. */
  role: Role;
  joined_at: string;
  removed_at: string;
  /** The actor who removed them: `person:<id>`. */
  removed_by: string;
}

type MemberEvent = Pick<EventFields, "type" | "data"> & { recorded_at: string; principal: string };
type Known = Pick<FormerMember, "role" | "joined_at">;

/** People who left, most recent departure first. `events`: events of members, oldest first. */
export function findFormerMembers(events: MemberEvent[]): FormerMember[] {
  const known = new Map<string, Known>();
  const former: FormerMember[] = [];
  for (const { type, data, recorded_at, principal } of events) {
    const { user_id: id, role } = data as { user_id: string; role?: Role };
    if (type === "UserRegistered") known.set(id, { role: role!, joined_at: recorded_at });
    const one = known.get(id);
    if (one && role) one.role = role;
    if (type === "UserRemoved" && one) former.push({ id, ...one, removed_at: recorded_at, removed_by: principal });
  }
  return former.toReversed();
}

/** A description of a person whose name was deleted: "former builder, 3 Mar 2026 to 12 May 2026 (9c11ab02)". */
export const describeFormerMember = ({ id, role, joined_at, removed_at }: FormerMember): string => {
  const [joined, left] = [formatDay(joined_at), formatDay(removed_at)];
  return `former ${role}, ${joined === left ? `only on ${joined}` : `${joined} to ${left}`} (${shortId(id)})`;
};
