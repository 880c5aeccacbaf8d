import { jetstream, type JsMsg } from "@nats-io/jetstream";
import { type PublicEvent, type Reactions, Unavailable } from "#events/ports.ts";
import type { Connection } from "./connection.ts";
import { bury } from "./deadLetters.ts";
import { messageId } from "./feed.ts";
import type { Names } from "./names.ts";
import type { Limits, Streams } from "./streams.ts";
import { Undecodable, workThrough } from "./work.ts";

export function createReactions(bus: {
  connection: Connection;
  streams: Streams;
  names: Names;
  limits: Limits;
}): Reactions {
  const { connection, streams, names, limits } = bus;
  return {
    /** Resolves when the stream has it. Throws Unavailable. */
    async publish(event) {
      try {
        await jetstream(connection.nc).publish(names.reaction(event), JSON.stringify(event), {
          msgID: messageId(event),
        });
      } catch (cause) {
        void streams.repair().catch(() => {});
        throw new Unavailable("The reaction stream takes nothing now", { cause });
      }
    },
    async consume(react) {
      return workThrough(bus, {
        stream: names.streams.reactions,
        durable: names.durables.reactions,
        ack_wait_ms: limits.ack_wait_ms,
        handle: (message) => react(decode(message)),
        bury: (message, reason, error) => bury(bus, message, reason, error),
      });
    },
  };
}

function decode(message: JsMsg): PublicEvent {
  try {
    return message.json<PublicEvent>();
  } catch (error) {
    throw new Undecodable(error);
  }
}
