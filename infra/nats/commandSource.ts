import type { JsMsg } from "@nats-io/jetstream";
import type { Command, CommandResult } from "#events/envelope.ts";
import type { CommandSource } from "#events/ports.ts";
import { ANSWER_TO_HEADER, CANARY_REFUSED, type AnswerMessage } from "./answers.ts";
import { openClaims } from "./claims.ts";
import { consumeQueue, decodeMessage } from "./consumeQueue.ts";
import type { BusContext } from "./context.ts";

const FAILED: CommandResult = {
  position: 0,
  repeated: false,
  rejection: { code: "internal", message: "The command could not be handled", retryable: true },
};

/** The result for an overdue command. A sender whose clock is wrong may still wait for it. */
const OVERDUE: CommandResult = {
  position: 0,
  repeated: false,
  rejection: { code: "unavailable", message: "The command came after its deadline; try again.", retryable: true },
};

const refuseCanary = (message: string): CommandResult => ({
  position: 0,
  repeated: false,
  rejection: { code: CANARY_REFUSED, message, retryable: true },
});

const isCommand = ({ id, type }: Command): boolean => typeof id === "string" && typeof type === "string";

/**
 * Age from which a worker asks the sender before it takes a command. A sender gives up after 3.4 s, and clocks of two processes may
 * differ by 2 s (a process further off takes no commands). Asking always would cost every command a round trip.
 */
const LATE_MS = 1_000;
const isLate = ({ at }: Command, now: number): boolean => now - Date.parse(at) > LATE_MS;

/** Handles commands from the queue and answers their senders. */
export function createSource(bus: BusContext, now: () => number = Date.now): CommandSource {
  const { log, pubSub } = bus.connection;
  const answer = ({ headers }: JsMsg, result: CommandResult) => {
    const subject = headers?.get(ANSWER_TO_HEADER);
    // nobody waits for a replayed dead letter
    if (!subject) return;
    pubSub.publishToOne(subject, { to: headers!.get("Nats-Msg-Id"), answer: result } satisfies AnswerMessage);
  };
  return {
    async consume(handle, gate, problem = () => undefined) {
      const claims = openClaims(bus);
      return consumeQueue(bus, {
        queue: "commands",
        gate,
        async handle(message) {
          if (message.subject === bus.names.canary) {
            const refusal = problem();
            if (refusal !== undefined) answer(message, refuseCanary(refusal));
            return;
          }
          const command = decodeMessage(message, isCommand);
          const fields = { command: command.id, type: command.type };
          if (Date.parse(command.deadline) < now()) {
            log.warn(fields, "bus: command dropped, its deadline has passed");
            answer(message, OVERDUE);
          } else if (isLate(command, now()) && !(await claims.claim(message)))
            log.warn(fields, "bus: command dropped, its sender gave it up");
          else answer(message, await handle(command));
        },
        onWorking: claims.announce,
        onDeadLetter: (message) => answer(message, FAILED),
      });
    },
  };
}
