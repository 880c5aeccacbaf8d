import { expect, test } from "vitest";
import { GroupConfigured, GroupRemoved } from "#events/group.ts";
import { ORGANIZATION, projectEvents, RECORDED_AT } from "#test/projections/projectEvents.ts";
import { groupId, groups } from "./project.ts";

test("the projection of groups has a row for each group and each member, which go with it", () => {
  const user_id = "0198c0de-0000-7000-8000-00000000000a";
  const group_id = groupId(ORGANIZATION, "finance");
  const members = { table: "group_members", kind: "removeWhere", where: { group_id } };
  const events = [GroupConfigured.of({ group: "finance", members: [user_id] }), GroupRemoved.of({ group: "finance" })];
  expect(projectEvents(groups, "group-1", ...events)).toEqual([
    {
      table: "groups",
      kind: "put",
      key: { id: group_id },
      row: { organization_id: ORGANIZATION, name: "finance", updated_at: RECORDED_AT },
    },
    members,
    { table: "group_members", kind: "put", key: { group_id, user_id }, row: { organization_id: ORGANIZATION } },
    { table: "groups", kind: "remove", key: { id: group_id } },
    members,
  ]);
});
