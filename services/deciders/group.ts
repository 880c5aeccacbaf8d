import type { Decider } from "#events/decider.ts";
import { GroupConfigured, GroupRemoved, type GroupCommand, type GroupEvent } from "#events/group.ts";
import { Rejection } from "#events/rejection.ts";

/** Maximum groups of an organization. */
const MAX_GROUPS = 200;

/** The names of an organization's groups. Their members are read from the read model when an approval is decided. */
export interface GroupState {
  names: string[];
}

export const group: Decider<GroupState, GroupCommand, GroupEvent> = {
  version: 1,
  initial: { names: [] },
  decide(command, { names }) {
    const isKnown = names.includes(command.data.group);
    switch (command.type) {
      case "ConfigureGroup":
        if (!isKnown && names.length >= MAX_GROUPS)
          throw new Rejection("too_many_groups", `An organization may have ${MAX_GROUPS} groups.`, { param: "group" });
        return [GroupConfigured.of(command.data)];
      case "RemoveGroup":
        if (!isKnown) throw new Rejection("group_not_found", "There is no group of this name.", { param: "group" });
        return [GroupRemoved.of(command.data)];
    }
  },
  evolve({ names }, event) {
    const others = names.filter((name) => name !== event.data.group);
    switch (event.type) {
      case "GroupConfigured":
        return { names: [...others, event.data.group] };
      case "GroupRemoved":
        return { names: others };
    }
  },
};
