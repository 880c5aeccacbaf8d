import type { Decider } from "#events/decider.ts";
import { Rejection } from "#events/rejection.ts";
import { SessionEnded, SessionStarted, type SessionCommand, type SessionEvent } from "#events/session.ts";

interface State {
  status: "absent" | "open" | "ended";
}

export const session: Decider<State, SessionCommand, SessionEvent> = {
  version: 1,
  initial: { status: "absent" },
  decide(command, state) {
    switch (command.type) {
      case "StartSession":
        if (state.status !== "absent") throw new Rejection("session_exists", "This session was started already.");
        return [SessionStarted.of(command.data)];
      case "EndSession":
        return state.status === "open" ? [SessionEnded.of({ session_id: command.data.session_id })] : [];
    }
  },
  evolve(_, event) {
    switch (event.type) {
      case "SessionStarted":
        return { status: "open" };
      case "SessionEnded":
        return { status: "ended" };
    }
  },
};
