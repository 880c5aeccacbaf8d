import { setTimeout as sleep } from "node:timers/promises";
import { jetstream, jetstreamManager } from "@nats-io/jetstream";
import { nanos } from "@nats-io/transport-node";
import { pino } from "pino";
import { addConsumer } from "#infra/nats/addConsumer.ts";
import { openConnection } from "#infra/nats/connection.ts";
import { namesFor } from "#infra/nats/names.ts";
import type { Journal } from "./journal.ts";

const AGAIN_MS = 200;
const PATIENCE_MS = 30_000;

/**
 * Subscribes to the feed as another service would, with a durable consumer that outlives its connections, and journals every
 * message before the ack. One message is in flight at a time, so a message lost with a connection is redelivered before later ones.
 */
export async function listenToFeed(nats_url: string, journal: Journal) {
  const connection = await openConnection({ url: nats_url, name: "crash feed", log: pino({ level: "silent" }) });
  const { nc } = connection;
  const stream = namesFor("svc").streams.events;
  const jsm = await jetstreamManager(nc, { checkAPI: false });
  const durable_name = "crash";
  const settings = { ack_policy: "explicit", ack_wait: nanos(2_000), max_ack_pending: 1, max_deliver: -1 } as const;
  const subscribe = () => addConsumer(jsm, stream, { durable_name, ...settings });
  await subscribe();
  const consumer = await jetstream(nc).consumers.get(stream, durable_name);

  let stopped = false;
  const receive = async (): Promise<void> => {
    const message = await connection.during(consumer.next({ expires: 1_000 }));
    if (!message) return;
    journal.note({ kind: "feed", subject: message.subject, text: message.string() });
    message.ack();
  };
  const listening = (async () => {
    // a disk that fails under NATS may take the consumer: a new one hears some events again
    while (!stopped)
      await receive().catch(() => sleep(AGAIN_MS).then(() => connection.during(subscribe()).catch(() => {})));
  })();
  const heardAll = async (): Promise<boolean> => {
    const { num_pending, num_ack_pending } = await connection.during(jsm.consumers.info(stream, durable_name));
    return num_pending === 0 && num_ack_pending === 0;
  };

  return {
    /** Listens until everything up to `until`, the end of the log, has arrived; at most 30 s. */
    async finish(until: number): Promise<void> {
      for (const end = Date.now() + PATIENCE_MS; Date.now() < end; await sleep(AGAIN_MS))
        if (await heardAll().catch(() => false)) break;
      journal.note({ kind: "feed_end", until });
    },
    async close(): Promise<void> {
      stopped = true;
      await nc.close();
      await listening;
    },
  };
}
