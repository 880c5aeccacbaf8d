import { queryOptions } from "@tanstack/react-query";
import { call, itemPath, pageQuery, queryAll, queryOne } from "./call.ts";
import { byId } from "./readAll.ts";
import type { Page, Role } from "./types.ts";

/* The people of the organization: everybody sees them, administrators change them. */

export const ROLES = ["owner", "admin", "builder", "approver", "viewer"] as const satisfies readonly Role[];

export interface Member {
  id: string;
  email: string;
  name: string;
  role: Role;
  /** Whether the person may sign in. */
  active: boolean;
  created_at: string;
  updated_at: string;
}

/** A member with the initial password, which no later answer returns. */
export type MemberWithPassword = Member & { password?: string };

export const MEMBERS_PER_PAGE = 500;

/** One page; `page` counts from 0. */
export const listMembers = (page = 0) =>
  queryOptions({
    queryKey: ["organization", "members", page],
    queryFn: queryOne<Page<Member>>("members", pageQuery(page, MEMBERS_PER_PAGE)),
    placeholderData: (previous) => previous,
  });

export const listAllMembers = queryOptions({
  queryKey: ["organization", "members", "all"],
  queryFn: queryAll<Member>("members", byId),
});

const pathOf = (id: string) => itemPath("members", id);

export const getMember = (id: string) =>
  queryOptions({ queryKey: ["organization", "member", id], queryFn: queryOne<Member>(pathOf(id)) });

export const addMember = (body: Pick<Member, "name" | "email" | "role">) =>
  call<MemberWithPassword>("members", { method: "POST", body });

export const changeMember = (id: string, body: Partial<Pick<Member, "name" | "role" | "active">>) =>
  call<Member>(pathOf(id), { method: "PATCH", body });

/** Ends the person's sessions. */
export const resetPassword = (id: string) => call<{ password: string }>(`${pathOf(id)}/password`, { method: "POST" });

export const removeMember = (id: string) => call<void>(pathOf(id), { method: "DELETE" });
