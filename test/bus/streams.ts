import { jetstream, jetstreamManager } from "@nats-io/jetstream";
import type { FeedEvent } from "#events/published.ts";
import { namesFor } from "#infra/nats/names.ts";
import { openConnection } from "#infra/nats/connection.ts";
import { pino } from "pino";

/** A connection that inspects the streams without going through the bus. */
export async function openInspector({ url, prefix }: { url: string; prefix: string }) {
  const connection = await openConnection({ url, name: "inspector", log: pino({ level: "silent" }) });
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

/** Deletes all streams of a prefix. */
export async function removeStreams(bus: { url: string; prefix: string }): Promise<void> {
  const inspector = await openInspector(bus);
  const { jsm, names } = inspector;
  await Promise.all(Object.values(names.streams).map((stream) => jsm.streams.delete(stream).catch(() => false)));
  await inspector.close();
}

/** The events in the feed's stream, in order. */
export async function readFeed(bus: { url: string; prefix: string }): Promise<FeedEvent[]> {
  const inspector = await openInspector(bus);
  const { state } = await inspector.jsm.streams.info(inspector.names.streams.events);
  const consumer = await jetstream(inspector.nc).consumers.get(inspector.names.streams.events);
  const found: FeedEvent[] = [];
  for await (const message of await consumer.fetch({ max_messages: Math.max(1, state.messages), expires: 2_000 })) {
    found.push(message.json<FeedEvent>());
    if (found.length === state.messages) break;
  }
  await inspector.close();
  return found;
}
