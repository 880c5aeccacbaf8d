import { jetstream } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";

/* Hears what happens in the platform: `NATS_URL=… node examples/subscribe.mjs [SUBJECT]`. */

const { NATS_URL = "nats://127.0.0.1:4222", BUS_PREFIX = "svc" } = process.env;
const { host, username: user, password: pass } = new URL(NATS_URL);
const ended = ({ message }) => {
  const next = "start the service, and give the address of its NATS as NATS_URL";
  process.stderr.write(`No feed at ${host} (${message}): ${next}.\n`);
  process.exit(1);
};
const connection = await connect({ servers: host, ...(user && { user, pass }) }).catch(ended);
const filter_subjects = process.argv[2] ?? `${BUS_PREFIX}.evt.v1.>`;
const { consumers } = jetstream(connection);
const consumer = await consumers.get(`${BUS_PREFIX.toUpperCase()}_EVENTS`, { filter_subjects }).catch(ended);
for await (const message of await consumer.consume()) {
  const { position, type, stream, data } = message.json();
  process.stdout.write(`${position} ${type} ${stream} ${JSON.stringify(data)}\n`);
}
