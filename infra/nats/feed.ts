import { jetstream } from "@nats-io/jetstream";
import { Unavailable } from "#events/ports.ts";
import type { FeedEvent } from "#events/published.ts";
import type { Connection } from "./connection.ts";
import type { Names } from "./names.ts";
import type { Streams } from "./streams.ts";

/** The feed of events for other services. */
export interface Feed {
  /**
   * Resolves when the stream has them all, in their order. Throws Unavailable: then it has those before some one of them, and
   * they may be published again, all of them: what the stream has is not taken twice.
   */
  publish(events: FeedEvent[]): Promise<void>;
}

export function createFeed(bus: { connection: Connection; streams: Streams; names: Names }): Feed {
  const { connection, streams, names } = bus;
  return {
    async publish(events) {
      const js = jetstream(connection.nc);
      // All are on their way at once, and each is refused unless the one before it has come.
      const acks = events.map((event, n) => {
        const before = events[n - 1];
        return js.publish(names.event(event), JSON.stringify(event), {
          msgID: String(event.position),
          ...(before && { expect: { lastMsgID: String(before.position) } }),
        });
      });
      const settled = await Promise.allSettled(acks);
      const failed = settled.find(({ status }) => status === "rejected");
      if (!failed) return;
      void streams.repair().catch(() => {});
      throw new Unavailable("The feed takes nothing now", { cause: (failed as PromiseRejectedResult).reason });
    },
  };
}
