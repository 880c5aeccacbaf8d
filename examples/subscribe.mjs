import { jetstream } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";

/* Hears what happens in the platform: `NATS_URL=… node examples/subscribe.mjs [SUBJECT]`. */

const { NATS_URL = "nats://127.0.0.1:4222", BUS_PREFIX = "svc" } = process.env;
const { host, username: user, password: pass } = new URL(NATS_URL);
const connection = await connect({ servers: host, ...(user && { user, pass }) });
const filter_subjects = process.argv[2] ?? `${BUS_PREFIX}.evt.v1.>`;
const consumer = await jetstream(connection).consumers.get(`${BUS_PREFIX.toUpperCase()}_EVENTS`, { filter_subjects });
for await (const message of await consumer.consume()) {
  const { position, type, stream, data } = message.json();
  process.stdout.write(`${position} ${type} ${stream} ${JSON.stringify(data)}\n`);
}
