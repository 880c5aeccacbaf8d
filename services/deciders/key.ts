import type { Decider } from "#events/decider.ts";
import { KeyChanged, KeyCreated, KeyDeleted, KeyRotated, type KeyCommand, type KeyEvent } from "#events/key.ts";
import { Rejection } from "#events/rejection.ts";
import { eraseOn } from "./keyErasure.ts";

interface State {
  status: "absent" | "active" | "deleted";
}

export const key: Decider<State, KeyCommand, KeyEvent> = {
  version: 1,
  initial: { status: "absent" },
  decide(command, state) {
    if (command.type === "CreateKey") {
      if (state.status !== "absent") throw new Rejection("key_exists", "This key exists already.");
      const { name, ...settings } = command.data;
      return [KeyCreated.of(settings, { name })];
    }
    if (state.status !== "active") throw new Rejection("key_not_found", "No API key has this id.");
    if (command.type === "DeleteKey") return [KeyDeleted.of({ key_id: command.data.key_id })];
    if (command.type === "RotateKey") return [KeyRotated.of(command.data)];
    const { name, ...settings } = command.data;
    return [KeyChanged.of(settings, { name })];
  },
  evolve(state, event) {
    switch (event.type) {
      case "KeyCreated":
        return { status: "active" };
      case "KeyChanged":
      case "KeyRotated":
        return state;
      case "KeyDeleted":
        return { status: "deleted" };
    }
  },
  erases: eraseOn("KeyDeleted"),
};
