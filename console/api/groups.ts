import { queryOptions } from "@tanstack/react-query";
import { call, itemPath, nullIfMissing, queryAll } from "./call.ts";

export interface Group {
  group: string;
  members: { id: string; name: string; email: string }[];
  updated_at: string;
}

/** Named people of the organization; everybody signed in sees them. */
export const listGroups = queryOptions({
  queryKey: ["group", "list"],
  queryFn: queryAll<Group>("groups", ({ group }) => group),
});

const pathOf = (group: string) => itemPath("groups", group);
/** Null if no group has this name. */
export const readGroup = (group: string) => nullIfMissing(call<Group>(pathOf(group)));
/** `updated_at`: of the group that the change is made to. Fails if somebody else has changed it since. */
export const setGroup = (group: string, members: string[], updated_at?: string) =>
  call<Group>(pathOf(group), { method: "PUT", body: { members, updated_at } });
export const removeGroup = (group: string) => call<void>(pathOf(group), { method: "DELETE" });
