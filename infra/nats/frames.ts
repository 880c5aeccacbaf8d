import { AckPolicy, jetstream } from "@nats-io/jetstream";
import { nanos } from "@nats-io/transport-node";
import { Unavailable, type Frame, type Frames, type StopReason } from "#events/ports.ts";
import type { Connection } from "./connection.ts";
import type { Names } from "./names.ts";
import type { Streams } from "./streams.ts";

interface Context {
  connection: Connection;
  streams: Streams;
  names: Names;
}

export function createFrames(bus: Context): Frames {
  const { names, connection } = bus;
  const { wire } = connection;
  const stops = new Map<string, Set<(why: StopReason) => void>>();
  const stopped = (subject: string, why: StopReason) => {
    for (const listener of stops.get(subject) ?? []) listener(why);
  };
  wire.listen(names.stops, (why, subject) => stopped(subject, why === "deleted" ? why : "stopped"));
  return {
    publish: (organization, turn, frame) => wire.tell(names.frames(organization, turn), frame),
    tell: (organization, turn, frame) => wire.tellOne(names.frames(organization, turn), frame),
    subscribe: (organization, turn, listener) => wire.listen(names.frames(organization, turn), listener),
    async kept(organization, turn) {
      wire.flush();
      try {
        return await connection.during(keptFrames(bus, names.frames(organization, turn)));
      } catch (cause) {
        throw new Unavailable("What was said of the turn cannot be read now", { cause });
      }
    },
    stop(organization, turn, why = "stopped") {
      const subject = names.stop(organization, turn);
      stopped(subject, why);
      wire.tell(subject, why);
    },
    onStop(organization, turn, listener) {
      const subject = names.stop(organization, turn);
      const listeners = stops.get(subject) ?? new Set();
      stops.set(subject, listeners.add(listener));
      return () => {
        listeners.delete(listener);
        if (listeners.size === 0 && stops.get(subject) === listeners) stops.delete(subject);
      };
    },
  };
}

/** A consumer that lives for one reading: the way that every server since 2.9 knows, at two round trips and one delivery. */
async function keptFrames({ connection, streams: { jsm }, names }: Context, subject: string): Promise<Frame[]> {
  const stream = names.streams.frames;
  const { name, num_pending } = await jsm.consumers.add(stream, {
    filter_subject: subject,
    ack_policy: AckPolicy.None,
    mem_storage: true,
    inactive_threshold: nanos(10_000),
  });
  try {
    return await fetched(connection, stream, name, num_pending);
  } finally {
    jsm.consumers.delete(stream, name).catch(() => {});
  }
}

async function fetched({ nc }: Connection, stream: string, name: string, count: number): Promise<Frame[]> {
  const frames: Frame[] = [];
  const consumer = await jetstream(nc).consumers.get(stream, name);
  while (frames.length < count) {
    const before = frames.length;
    const messages = await consumer.fetch({ max_messages: Math.min(1000, count - before), expires: 2000 });
    for await (const message of messages) frames.push(message.json<Frame>());
    if (frames.length === before) break;
  }
  return frames;
}
