import type { Decider } from "#events/decider.ts";
import { streamName } from "#events/ids.ts";
import { OrganizationCreated, type OrganizationCommand, type OrganizationEvent } from "#events/organization.ts";
import { Rejection } from "#events/rejection.ts";
import type { UserCommand, UserEvent } from "#events/user.ts";
import { evolveMembers, decideMembers, type Members } from "./members.ts";

type State = { status: "absent" } | { status: "active"; members: Members };

export const organization: Decider<State, OrganizationCommand | UserCommand, OrganizationEvent | UserEvent> = {
  version: 2,
  initial: { status: "absent" },
  decide(command, state) {
    if (command.type === "CreateOrganization") {
      if (state.status === "active") throw new Rejection("organization_exists", "This organization exists already.");
      const { organization_id, name } = command.data;
      return [OrganizationCreated.of({ organization_id }, { name })];
    }
    if (state.status === "absent") throw new Rejection("organization_not_found", "There is no such organization.");
    return decideMembers(command, state.members);
  },
  evolve(state, event) {
    if (event.type === "OrganizationCreated") return { status: "active", members: {} };
    return { status: "active", members: evolveMembers(state.status === "active" ? state.members : {}, event) };
  },
  erases: (events) => ({
    things: events.flatMap((event) => (event.type === "UserRemoved" ? [streamName("user", event.data.user_id)] : [])),
  }),
};
