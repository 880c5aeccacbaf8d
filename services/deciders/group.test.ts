import { test } from "vitest";
import { ConfigureGroup, GroupConfigured, GroupRemoved, RemoveGroup } from "#events/group.ts";
import { command, given } from "../../test/given.ts";
import { group } from "./group.ts";

const settings = (name: string) => ({ group: name, members: ["0198c0de-0000-7000-8000-00000000000a"] });
const configured = (name: string) => GroupConfigured.of(settings(name));
const full = Array.from({ length: 200 }, (_, n) => configured(`g${n}`));

test("a group is configured and removed, and one that does not exist cannot be removed", () => {
  given(group)
    .when(command(ConfigureGroup.type, settings("finance")))
    .then(configured("finance"));
  given(group, [configured("finance")])
    .when(command(RemoveGroup.type, { group: "finance" }))
    .then(GroupRemoved.of({ group: "finance" }));
  given(group)
    .when(command(RemoveGroup.type, { group: "finance" }))
    .rejected("group_not_found");
});

test("an organization has at most 200, and those that it has can be changed", () => {
  given(group, full)
    .when(command(ConfigureGroup.type, settings("one-more")))
    .rejected("too_many_groups");
  given(group, full)
    .when(command(ConfigureGroup.type, settings("g7")))
    .then(configured("g7"));
});
