import { jetstream, JetStreamApiCodes, type PubAck } from "@nats-io/jetstream";
import { headers, type MsgHdrs } from "@nats-io/transport-node";
import { Unavailable } from "#events/ports.ts";
import type { FeedEvent } from "#events/published.ts";
import type { TraceHeaders } from "#events/trace.ts";
import { addConsumer } from "./addConsumer.ts";
import type { BusContext } from "./context.ts";
import { orUndefined } from "./streams.ts";

/** An event and its trace, which is sent as a header. */
export interface FeedMessage extends Pick<TraceHeaders, "traceparent"> {
  event: FeedEvent;
}

/** A listener of this name exists, and receives something else. */
export class ListenerTaken extends Error {
  override name = "ListenerTaken";
}

/** How long an answer about consumers is cached. */
const CONSUMERS_MS = 1_000;

type EncodedMessage = [subject: string, json: string, options: { headers: MsgHdrs }];

/** The feed of events for other services. */
export interface Feed {
  /**
   * Resolves when the stream has stored all events in order. Throws Unavailable if it stored only some or none: publish all of them
   * again, and the stream drops those it has.
   */
  publish(events: FeedMessage[]): Promise<void>;
  /**
   * The stream's last event; "nothing" if it never had one; undefined if all have expired. Throws Unavailable. The stream refuses
   * the next publication if its last event has changed by then, or if it was recreated.
   */
  last(): Promise<FeedEvent | "nothing" | undefined>;
  /** Whether the stream had consumers at the last check, at most a second ago. */
  hasConsumers(): boolean;
  /**
   * Creates the durable consumer of a listener to one organization. An existing one keeps its place. Throws ListenerTaken if that
   * receives the events of another organization, and Unavailable.
   */
  addListener(name: string, organization: string): Promise<void>;
}

/**
 * Includes the time, because a restored or failed-over log may assign positions again, and JetStream drops messages with an id seen
 * within two minutes.
 */
export const messageId = ({ position, recorded_at }: Pick<FeedEvent, "position" | "recorded_at">): string =>
  `${position}:${Date.parse(recorded_at)}`;

/** Whether a stream has consumers. The answer is at most a second old while it is used, and false while the bus does not answer. */
function watchConsumers({ streams, names }: BusContext): () => boolean {
  let asked_at = -Infinity;
  let isConsumed = false;
  const ask = async (): Promise<void> => {
    const { state } = await streams.jsm.streams.info(names.streams.events);
    isConsumed = state.consumer_count > 0;
  };
  return () => {
    if (performance.now() - asked_at >= CONSUMERS_MS) {
      asked_at = performance.now();
      ask().catch(() => (isConsumed = false));
    }
    return isConsumed;
  };
}

/** NATS before 2.10 would give an existing consumer the new filter, and later versions refuse it without a reason. */
async function ensureListener(
  { streams: { jsm }, names }: BusContext,
  durable_name: string,
  filter_subject: string,
): Promise<void> {
  const stream = names.streams.events;
  const found = await orUndefined(jsm.consumers.info(stream, durable_name), JetStreamApiCodes.ConsumerNotFound);
  const received = found?.config.filter_subject;
  if (found && received !== filter_subject)
    throw new ListenerTaken(`The consumer ${durable_name} exists already and receives ${received ?? "other events"}`);
  // one message in flight: subscribers skip positions that they have passed
  const settings = { ack_policy: "explicit", max_ack_pending: 1 } as const;
  if (!found) await addConsumer(jsm, stream, { durable_name, filter_subject, ...settings });
}

export function createFeed(bus: BusContext): Feed {
  const { connection, streams, names } = bus;
  /** Sequence number of the stream's last message, if known. */
  let sequence: number | undefined;
  /** A message that the stream accepts only directly after the previous one. */
  const encodeMessage = ({ event, traceparent }: FeedMessage, previous: FeedMessage | undefined): EncodedMessage => {
    const fields = headers();
    // `set` would first search and remove what is not there
    fields.append("Nats-Msg-Id", messageId(event));
    if (previous) fields.append("Nats-Expected-Last-Msg-Id", messageId(previous.event));
    else if (sequence !== undefined) fields.append("Nats-Expected-Last-Sequence", String(sequence));
    if (traceparent) fields.append("traceparent", traceparent);
    return [names.event(event), JSON.stringify(event), { headers: fields }];
  };
  /**
   * Sends all without waiting, in one write with the hints of the same commit. The stream refuses a message whose predecessor is
   * missing, so the last answer covers all.
   */
  const send = (messages: EncodedMessage[], last: EncodedMessage): Promise<PubAck> => {
    const write = async () => {
      for (const message of messages) connection.nc.publish(...message);
      return jetstream(connection.nc).publish(...last);
    };
    return new Promise((resolve, reject) => connection.pubSub.batch(() => void write().then(resolve, reject)));
  };
  const unavailable = (cause: unknown): Unavailable => {
    void streams.repair().catch(() => {});
    return new Unavailable("The feed stream is unavailable", { cause });
  };
  const readLast = async (): Promise<FeedEvent | "nothing" | undefined> => {
    const { state } = await streams.jsm.streams.info(names.streams.events);
    const message =
      state.messages > 0 ? await streams.jsm.streams.getMessage(names.streams.events, { seq: state.last_seq }) : null;
    sequence = state.last_seq;
    return sequence === 0 ? "nothing" : message?.json<FeedEvent>();
  };
  return {
    hasConsumers: watchConsumers(bus),
    async publish(events) {
      if (events.length === 0) return;
      const messages = events.map((message, n) => encodeMessage(message, events[n - 1]));
      const last = messages.pop()!;
      sequence = undefined;
      try {
        const { seq, duplicate } = await send(messages, last);
        if (!duplicate) sequence = seq;
      } catch (cause) {
        throw unavailable(cause);
      }
    },
    async addListener(name, organization) {
      await connection
        .during(ensureListener(bus, names.listener(name), names.eventsOf(organization)))
        .catch((cause: unknown) => Promise.reject(cause instanceof ListenerTaken ? cause : unavailable(cause)));
    },
    last: () => connection.during(readLast()).catch((cause: unknown) => Promise.reject(unavailable(cause))),
  };
}
