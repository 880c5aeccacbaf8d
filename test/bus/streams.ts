import { jetstream, jetstreamManager } from "@nats-io/jetstream";
import type { FeedEvent } from "#events/published.ts";
import { namesFor } from "#infra/nats/names.ts";
import { openConnection } from "#infra/nats/connection.ts";
import { pino } from "pino";

/** A connection that looks at the streams from outside, past the bus. */
export async function lookAt({ url, prefix }: { url: string; prefix: string }) {
  const connection = await openConnection({ url, name: "looker", log: pino({ level: "silent" }) });
  const jsm = await jetstreamManager(connection.nc, { checkAPI: false });
  const names = namesFor(prefix);
  return {
    nc: connection.nc,
    jsm,
    names,
    async consumers() {
      const counts = Object.values(names.streams).map(
        async (stream) => (await jsm.streams.info(stream)).state.consumer_count,
      );
      return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
    },
    close: () => connection.nc.close(),
  };
}

/** What a prefix had reserved on the server is free again. */
export async function removeStreams(bus: { url: string; prefix: string }): Promise<void> {
  const looker = await lookAt(bus);
  const { jsm, names } = looker;
  await Promise.all(Object.values(names.streams).map((stream) => jsm.streams.delete(stream).catch(() => false)));
  await looker.close();
}

/** What the feed's stream holds, in its order. */
export async function told(bus: { url: string; prefix: string }): Promise<FeedEvent[]> {
  const looker = await lookAt(bus);
  const { state } = await looker.jsm.streams.info(looker.names.streams.events);
  const consumer = await jetstream(looker.nc).consumers.get(looker.names.streams.events);
  const found: FeedEvent[] = [];
  for await (const message of await consumer.fetch({ max_messages: Math.max(1, state.messages), expires: 2_000 })) {
    found.push(message.json<FeedEvent>());
    if (found.length === state.messages) break;
  }
  await looker.close();
  return found;
}
