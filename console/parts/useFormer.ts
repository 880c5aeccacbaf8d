import { useQuery } from "@tanstack/react-query";
import { listFormerMembers } from "../api/formerMembers.ts";
import { useRole } from "../api/useRole.ts";
import { formerMember } from "../format/formerMember.ts";

/** What people who were removed are called, by their id. Empty for everybody who may not read the log, and while it is not asked for. */
export function useFormerNames(isWanted = true): Map<string, string> {
  const { isAdmin } = useRole();
  const { data = [] } = useQuery({ ...listFormerMembers, enabled: isAdmin && isWanted });
  return new Map(data.map((one) => [one.id, formerMember(one)]));
}
