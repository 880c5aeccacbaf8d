import { useQuery } from "@tanstack/react-query";
import { whoAmI } from "./queries.ts";
import type { Role } from "./types.ts";

/** What the person may do, as far as the role decides it (docs/permissions.md). Until the role is known: nothing. */
export function useRole() {
  const { data } = useQuery(whoAmI);
  const is = (...roles: Role[]) => data !== undefined && roles.includes(data.user.role);
  return {
    isOwner: is("owner"),
    /** Keys, usage, providers, the log; changing people and projects. */
    isAdmin: is("owner", "admin"),
    /** Agents, definitions, workflows, secrets, everybody's requests. */
    isBuilder: is("owner", "admin", "builder"),
    isApprover: is("approver"),
    /** Asking models, and changing documents. */
    mayWrite: is("owner", "admin", "builder", "approver"),
  };
}
