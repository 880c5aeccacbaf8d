import { useQuery } from "@tanstack/react-query";
import { getSession } from "./queries.ts";
import type { Role } from "./types.ts";

/** The permissions of the person's role (docs/permissions.md). None until the role is known. */
export function useRole() {
  const { data } = useQuery(getSession);
  const is = (...roles: Role[]) => data !== undefined && roles.includes(data.user.role);
  return {
    isOwner: is("owner"),
    /** Keys, usage, providers and the log; changes of people and projects. */
    isAdmin: is("owner", "admin"),
    /** Agents, definitions, workflows, secrets, everybody's requests. */
    isBuilder: is("owner", "admin", "builder"),
    isApprover: is("approver"),
    /** Asking models, and changing documents. */
    mayWrite: is("owner", "admin", "builder", "approver"),
  };
}
