import type { Decider } from "#events/decider.ts";
import { OrganizationCreated, type OrganizationCommand, type OrganizationEvent } from "#events/organization.ts";
import { Rejection } from "#events/rejection.ts";

interface State {
  status: "absent" | "active";
}

export const organization: Decider<State, OrganizationCommand, OrganizationEvent> = {
  version: 1,
  initial: { status: "absent" },
  decide({ data }, state) {
    if (state.status === "active") throw new Rejection("organization_exists", "This organization exists already.");
    return [OrganizationCreated.of({ organization_id: data.organization_id }, { name: data.name })];
  },
  evolve: () => ({ status: "active" }),
};
