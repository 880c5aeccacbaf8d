import { setTimeout as sleep } from "node:timers/promises";
import { jetstream, jetstreamManager } from "@nats-io/jetstream";
import { nanos } from "@nats-io/transport-node";
import { pino } from "pino";
import { openConnection } from "#infra/nats/connection.ts";
import { namesFor } from "#infra/nats/names.ts";
import type { Journal } from "./journal.ts";

const AGAIN_MS = 200;
const PATIENCE_MS = 30_000;

/**
 * Listens to the feed as another service would, with a durable consumer that outlives its connections, and notes every message
 * before it is acknowledged. One message is under way at a time: what is lost with a connection comes again before anything later.
 */
export async function listenToFeed(nats_url: string, journal: Journal) {
  const connection = await openConnection({ url: nats_url, name: "crash feed", log: pino({ level: "silent" }) });
  const { nc } = connection;
  const stream = namesFor("svc").streams.events;
  const jsm = await jetstreamManager(nc, { checkAPI: false });
  const durable_name = "crash";
  const settings = { ack_policy: "explicit", ack_wait: nanos(2_000), max_ack_pending: 1, max_deliver: -1 } as const;
  await jsm.consumers.add(stream, { durable_name, ...settings });
  const consumer = await jetstream(nc).consumers.get(stream, durable_name);

  let stopped = false;
  const hear = async (): Promise<void> => {
    const message = await connection.during(consumer.next({ expires: 1_000 }));
    if (!message) return;
    journal.note({ kind: "told", subject: message.subject, text: message.string() });
    message.ack();
  };
  const listening = (async () => {
    while (!stopped) await hear().catch(() => sleep(AGAIN_MS));
  })();
  const heardAll = async (): Promise<boolean> => {
    const { num_pending, num_ack_pending } = await connection.during(jsm.consumers.info(stream, durable_name));
    return num_pending === 0 && num_ack_pending === 0;
  };

  return {
    /** Listens until all was heard, for 30 s at most; `until` is where the log ends. */
    async finish(until: number): Promise<void> {
      for (const end = Date.now() + PATIENCE_MS; Date.now() < end; await sleep(AGAIN_MS))
        if (await heardAll().catch(() => false)) break;
      journal.note({ kind: "listened", until });
    },
    async close(): Promise<void> {
      stopped = true;
      await nc.close();
      await listening;
    },
  };
}
