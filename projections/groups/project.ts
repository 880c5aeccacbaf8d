import type { GroupEvent } from "#events/group.ts";
import { deriveId } from "#events/ids.ts";
import { defineProjection, type Change } from "../projection.ts";

export const groupId = (organization: string, name: string): string => deriveId("group", organization, name);

/** Durable, because its rows decide who may approve. */
export const groups = defineProjection<GroupEvent>({
  name: "groups",
  version: 1,
  durable: true,
  tables: new URL("table.sql", import.meta.url),
  on: {
    GroupConfigured: ({ organization_id, data: { group, members }, recorded_at }) => {
      const group_id = groupId(organization_id, group);
      return [
        {
          table: "groups",
          kind: "put",
          key: { id: group_id },
          row: { organization_id, name: group, updated_at: recorded_at },
        },
        { table: "group_members", kind: "removeWhere", where: { group_id } },
        ...members.map(
          (user_id): Change => ({
            table: "group_members",
            kind: "put",
            key: { group_id, user_id },
            row: { organization_id },
          }),
        ),
      ];
    },
    GroupRemoved: ({ organization_id, data }) => {
      const group_id = groupId(organization_id, data.group);
      return [
        { table: "groups", kind: "remove", key: { id: group_id } },
        { table: "group_members", kind: "removeWhere", where: { group_id } },
      ];
    },
  },
});
