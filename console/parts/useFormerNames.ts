import { useQuery } from "@tanstack/react-query";
import { listFormerMembers } from "../api/formerMembers.ts";
import { useRole } from "../api/useRole.ts";
import { describeFormerMember } from "../format/formerMember.ts";

/** Descriptions of removed people by their id. Empty for people who may not read the log, and while it is switched off. */
export function useFormerNames(isWanted = true): Map<string, string> {
  const { isAdmin } = useRole();
  const { data = [] } = useQuery({ ...listFormerMembers, enabled: isAdmin && isWanted });
  return new Map(data.map((one) => [one.id, describeFormerMember(one)]));
}
