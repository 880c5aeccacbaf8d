import type { JsMsg } from "@nats-io/jetstream";
import type { Command, CommandResult } from "#events/envelope.ts";
import type { CommandSource } from "#events/ports.ts";
import { ANSWER_TO, type AnswerMessage } from "./answers.ts";
import { consumeQueue, decodeMessage } from "./consumeQueue.ts";
import type { BusContext } from "./context.ts";

const FAILED: CommandResult = {
  position: 0,
  repeated: false,
  rejection: { code: "internal", message: "The command could not be handled", retryable: true },
};

/** A sender whose clock is wrong may still wait. */
const OVERDUE: CommandResult = {
  position: 0,
  repeated: false,
  rejection: { code: "unavailable", message: "The command came after its deadline; try again.", retryable: true },
};

const isCommand = ({ id, type }: Command): boolean => typeof id === "string" && typeof type === "string";

/** Handles commands from the queue and answers their senders. */
export function createSource(bus: BusContext, now: () => number = Date.now): CommandSource {
  const { log, pubSub } = bus.connection;
  const answer = ({ headers }: JsMsg, result: CommandResult) => {
    const subject = headers?.get(ANSWER_TO);
    // a replayed dead letter has no sender that waits
    if (!subject) return;
    pubSub.publishToOne(subject, { to: headers!.get("Nats-Msg-Id"), answer: result } satisfies AnswerMessage);
  };
  return {
    async consume(handle, gate) {
      return consumeQueue(bus, {
        queue: "commands",
        gate,
        async handle(message) {
          if (message.subject === bus.names.canary) return;
          const command = decodeMessage(message, isCommand);
          if (Date.parse(command.deadline) < now()) {
            log.warn({ command: command.id, type: command.type }, "bus: command dropped, its deadline has passed");
            answer(message, OVERDUE);
          } else answer(message, await handle(command));
        },
        onDeadLetter: (message) => answer(message, FAILED),
      });
    },
  };
}
