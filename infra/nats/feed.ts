import { jetstream } from "@nats-io/jetstream";
import { headers } from "@nats-io/transport-node";
import { Unavailable } from "#events/ports.ts";
import type { FeedEvent } from "#events/published.ts";
import type { Traced } from "#events/trace.ts";
import type { Connection } from "./connection.ts";
import type { Names } from "./names.ts";
import type { Streams } from "./streams.ts";

/** An event with the trace that it belongs to, which travels as a header. */
export interface Told extends Pick<Traced, "traceparent"> {
  event: FeedEvent;
}

/** The feed of events for other services. */
export interface Feed {
  /**
   * Resolves when the stream has them all, in their order. Throws Unavailable: then it has those before some one of them, and
   * they may be published again, all of them: what the stream has is not taken twice.
   */
  publish(events: Told[]): Promise<void>;
  /**
   * What the stream holds last: an event, "nothing" where it has never held one, undefined where all that it held is too old.
   * What is published next is refused by a stream that holds another last one by then, or was made anew. Throws Unavailable.
   */
  last(): Promise<FeedEvent | "nothing" | undefined>;
}

/**
 * A position alone will not do: a log that was restored, or whose standby took over without its last commits, gives the same
 * ones out again, and JetStream would drop those of the last two minutes.
 */
export const messageId = ({ position, recorded_at }: Pick<FeedEvent, "position" | "recorded_at">): string =>
  `${position}:${Date.parse(recorded_at)}`;

export function createFeed(bus: { connection: Connection; streams: Streams; names: Names }): Feed {
  const { connection, streams, names } = bus;
  /** The sequence of the stream's last message, while it is known. */
  let sequence: number | undefined;
  /** A message that the stream takes only right after another one. */
  const messageOf = ({ event, traceparent }: Told, before: Told | undefined) => {
    const sent = headers();
    sent.set("Nats-Msg-Id", messageId(event));
    if (before) sent.set("Nats-Expected-Last-Msg-Id", messageId(before.event));
    else if (sequence !== undefined) sent.set("Nats-Expected-Last-Sequence", String(sequence));
    if (traceparent) sent.set("traceparent", traceparent);
    return [names.event(event), JSON.stringify(event), { headers: sent }] as const;
  };
  const unavailable = (cause: unknown): Unavailable => {
    void streams.repair().catch(() => {});
    return new Unavailable("The feed takes nothing now", { cause });
  };
  const readLast = async (): Promise<FeedEvent | "nothing" | undefined> => {
    const { state } = await streams.jsm.streams.info(names.streams.events);
    const message =
      state.messages > 0 ? await streams.jsm.streams.getMessage(names.streams.events, { seq: state.last_seq }) : null;
    sequence = state.last_seq;
    return sequence === 0 ? "nothing" : message?.json<FeedEvent>();
  };
  return {
    async publish(events) {
      if (events.length === 0) return;
      const messages = events.map((told, n) => messageOf(told, events[n - 1]));
      const last = messages.pop()!;
      sequence = undefined;
      try {
        // All are on their way at once. Each is refused unless the one before it has come, so the last one's ack is that of all.
        for (const message of messages) connection.nc.publish(...message);
        const { seq, duplicate } = await jetstream(connection.nc).publish(...last);
        if (!duplicate) sequence = seq;
      } catch (cause) {
        throw unavailable(cause);
      }
    },
    last: () => connection.during(readLast()).catch((cause: unknown) => Promise.reject(unavailable(cause))),
  };
}
