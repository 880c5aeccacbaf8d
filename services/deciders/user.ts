import type { Decider } from "#events/decider.ts";
import { idFrom } from "#events/ids.ts";
import { Rejection } from "#events/rejection.ts";
import { UserRegistered, type UserCommand, type UserEvent } from "#events/user.ts";

interface State {
  status: "absent" | "active";
}

const emailTaken = { code: "email_taken", message: "Somebody is registered with this email already.", param: "email" };

export const user: Decider<State, UserCommand, UserEvent> = {
  version: 1,
  initial: { status: "absent" },
  decide({ data }, state) {
    if (state.status === "active") throw new Rejection("user_exists", "This user exists already.");
    const { user_id, role, ...personal } = data;
    return [UserRegistered.of({ user_id, role, email_claim: idFrom("email", personal.email) }, personal)];
  },
  evolve: () => ({ status: "active" }),
  claims: (events) => ({
    hold: events.map((event) => ({ name: `email:${event.data.email_claim}`, taken: emailTaken })),
    release: [],
  }),
};
