import { jetstream, jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";

/* Hears what happens in the platform: `NATS_URL=… node examples/subscribe.mjs SUBJECT [CONSUMER]`. A listener with an account of its own has API_PREFIX=feed. */

const { NATS_URL = "nats://127.0.0.1:4222", BUS_PREFIX = "svc", API_PREFIX: apiPrefix = "$JS.API" } = process.env;
const { host, username, password } = new URL(NATS_URL);
const [user, pass] = [username, password].map(decodeURIComponent);
const ended = ({ message }) => {
  const next = "start the service, and give the address of its NATS as NATS_URL";
  process.stderr.write(`No feed at ${host} (${message}): ${next}.\n`);
  process.exit(1);
};
const login = user && { user, pass, inboxPrefix: `_INBOX.${user}` };
const connection = await connect({ servers: host, ...login }).catch(ended);
const stream = `${BUS_PREFIX.toUpperCase()}_EVENTS`;
const [filter_subject = `${BUS_PREFIX}.evt.v1.>`, name] = process.argv.slice(2);

/** Keeps its place while nobody listens. One message at a time, so that none arrives after a later one. */
const durable = { durable_name: name, filter_subject, ack_policy: "explicit", max_ack_pending: 1 };
if (name) {
  const manager = await jetstreamManager(connection, { apiPrefix, checkAPI: false });
  // the user of a listener finds its consumer, which `svc feed add` has created
  await manager.consumers.info(stream, name).catch(() => manager.consumers.add(stream, durable).catch(ended));
}
const { consumers } = jetstream(connection, { apiPrefix });
const consumer = await consumers.get(stream, name ?? { filter_subjects: filter_subject }).catch(ended);
for await (const message of await consumer.consume()) {
  const { position, type, stream, data } = message.json();
  process.stdout.write(`${position} ${type} ${stream} ${JSON.stringify(data)}\n`);
  message.ack();
}
