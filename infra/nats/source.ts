import type { JsMsg } from "@nats-io/jetstream";
import type { Answer, Command } from "#events/envelope.ts";
import type { CommandSource } from "#events/ports.ts";
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
  const answer = (command: Command, given: Answer) =>
    connection.nc.publish(names.answer(command.id), JSON.stringify(given));
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
          answer(command, await handle(command));
        },
        async bury(message, reason, error) {
          await bury(bus, message, reason, error);
          if (!(error instanceof Undecodable)) answer(decode(message), FAILED);
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
