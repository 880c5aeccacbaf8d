import { jetstream } from "@nats-io/jetstream";
import { type PublicEvent, type Reactions, Unavailable } from "#events/ports.ts";
import { consumeQueue, decodeMessage } from "./consumeQueue.ts";
import type { BusContext } from "./context.ts";
import { messageId } from "./feed.ts";

export function createReactions(bus: BusContext): Reactions {
  const { connection, streams, names } = bus;
  return {
    /** Resolves when the stream has stored it. Throws Unavailable. */
    async publish(event) {
      try {
        await jetstream(connection.nc).publish(names.reaction(event), JSON.stringify(event), {
          msgID: messageId(event),
        });
      } catch (cause) {
        void streams.repair().catch(() => {});
        throw new Unavailable("The reaction stream is unavailable", { cause });
      }
    },
    async consume(react, gate) {
      return consumeQueue(bus, {
        queue: "reactions",
        gate,
        handle: (message) => react(decodeMessage<PublicEvent>(message)),
      });
    },
  };
}
