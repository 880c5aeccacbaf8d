import type { JsMsg } from "@nats-io/jetstream";
import type { Answer, Command } from "#events/envelope.ts";
import type { CommandSource } from "#events/ports.ts";
import { ANSWER_TO, type Answered } from "./answers.ts";
import type { Connection } from "./connection.ts";
import { bury } from "./deadLetters.ts";
import type { Names } from "./names.ts";
import type { Limits, Streams } from "./streams.ts";
import { Undecodable, workThrough } from "./work.ts";

interface Context {
  connection: Connection;
  streams: Streams;
  names: Names;
  limits: Limits;
}

export function createSource(bus: Context): CommandSource {
  const { connection, names, limits } = bus;
  /** A replayed dead letter has nobody who waits. */
  const answer = ({ headers }: JsMsg, given: Answer) => {
    const subject = headers?.get(ANSWER_TO);
    if (subject)
      connection.wire.tellOne(subject, { to: headers!.get("Nats-Msg-Id"), answer: given } satisfies Answered);
  };
  return {
    async consume(handle) {
      return workThrough(bus, {
        stream: names.streams.commands,
        durable: names.durables.commands,
        ack_wait_ms: limits.ack_wait_ms,
        async handle(message) {
          const command = decode(message);
          if (Date.parse(command.deadline) < Date.now()) {
            connection.log.warn({ command: command.id, type: command.type }, "bus: a command came after its deadline");
            return;
          }
          answer(message, await handle(command));
        },
        async bury(message, reason, error) {
          await bury(bus, message, reason, error);
          if (!(error instanceof Undecodable)) answer(message, FAILED);
        },
      });
    },
  };
}

const FAILED: Answer = {
  position: 0,
  repeated: false,
  rejection: { code: "internal", message: "The command could not be handled", retryable: true },
};

function decode(message: JsMsg): Command {
  try {
    const command = message.json<Command>();
    if (typeof command.id !== "string" || typeof command.type !== "string") throw new Error("no command");
    return command;
  } catch (error) {
    throw new Undecodable(error);
  }
}
