import { queryOptions } from "@tanstack/react-query";
import { call } from "./call.ts";
import { byId, readAll } from "./readAll.ts";
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
    queryFn: ({ signal }) =>
      call<Page<Member>>("members", { signal, query: { limit: MEMBERS_PER_PAGE, offset: page * MEMBERS_PER_PAGE } }),
    placeholderData: (previous) => previous,
  });

export const listAllMembers = queryOptions({
  queryKey: ["organization", "members", "all"],
  queryFn: ({ signal }) => readAll((query) => call<Page<Member>>("members", { signal, query }), byId),
});

const pathOf = (id: string) => `members/${encodeURIComponent(id)}`;

export const getMember = (id: string) =>
  queryOptions({
    queryKey: ["organization", "member", id],
    queryFn: ({ signal }) => call<Member>(pathOf(id), { signal }),
  });

export const addMember = (body: Pick<Member, "name" | "email" | "role">) =>
  call<MemberWithPassword>("members", { method: "POST", body });

export const changeMember = (id: string, body: Partial<Pick<Member, "name" | "role" | "active">>) =>
  call<Member>(pathOf(id), { method: "PATCH", body });

/** Ends the person's sessions. */
export const resetPassword = (id: string) => call<{ password: string }>(`${pathOf(id)}/password`, { method: "POST" });

export const removeMember = (id: string) => call<void>(pathOf(id), { method: "DELETE" });
