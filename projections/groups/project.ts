import type { GroupEvent } from "#events/group.ts";
import { deriveId } from "#events/ids.ts";
import { defineProjection, putRow, removeRow, removeRows, type Change } from "../projection.ts";

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
        putRow("groups", group_id, { organization_id, name: group, updated_at: recorded_at }),
        removeRows("group_members", { group_id }),
        ...members.map((user_id): Change => putRow("group_members", { group_id, user_id }, { organization_id })),
      ];
    },
    GroupRemoved: ({ organization_id, data }) => {
      const group_id = groupId(organization_id, data.group);
      return [removeRow("groups", group_id), removeRows("group_members", { group_id })];
    },
  },
});
