import type { Decider } from "#events/decider.ts";
import { MessageDelivered, MessagePosted, type MessageCommand, type MessageEvent } from "#events/message.ts";
import { Rejection } from "#events/rejection.ts";
import { eraseOn } from "./keyErasure.ts";

export interface MessageState {
  status: "absent" | "posted" | "delivered";
}

export const message: Decider<MessageState, MessageCommand, MessageEvent> = {
  version: 1,
  initial: { status: "absent" },
  decide(command, state) {
    switch (command.type) {
      case "PostMessage": {
        if (state.status !== "absent") throw new Rejection("message_exists", "This message exists already.");
        const { name, data, ...reach } = command.data;
        return [MessagePosted.of(reach, { name, data })];
      }
      case "CloseMessage":
        return state.status === "posted" ? [MessageDelivered.of(command.data)] : [];
    }
  },
  evolve(_, { type }) {
    switch (type) {
      case "MessagePosted":
        return { status: "posted" };
      case "MessageDelivered":
        return { status: "delivered" };
    }
  },
  workStatus: ({ status }) => ({ status: status === "posted" ? "delivering" : null, due_at: null, worker: null }),
  erases: eraseOn("MessageDelivered"),
  erasesWhenJoined: true,
};
