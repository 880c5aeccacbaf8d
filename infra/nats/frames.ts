import { AckPolicy, jetstream } from "@nats-io/jetstream";
import { nanos } from "@nats-io/transport-node";
import { Unavailable, type Frame, type Frames, type StopReason } from "#events/ports.ts";
import type { BusContext } from "./context.ts";
import { keepShares } from "./frameShares.ts";

export function createFrames(bus: BusContext): Frames {
  const { names, connection } = bus;
  const { pubSub } = connection;
  const countSent = keepShares(bus);
  const stopListeners = new Map<string, Set<(reason: StopReason) => void>>();
  const onStopRequest = (subject: string, reason: StopReason) => {
    for (const listener of stopListeners.get(subject) ?? []) listener(reason);
  };
  pubSub.subscribe(names.stops, (reason, subject) => onStopRequest(subject, reason === "deleted" ? reason : "stopped"));
  return {
    publish: (organization, turn, frame) =>
      countSent(organization, pubSub.publish(names.frames(organization, turn), frame)),
    sendToWaiter: (organization, turn, frame) =>
      countSent(organization, pubSub.publishToOne(names.frames(organization, turn), frame)),
    subscribe: (organization, turn, listener) => pubSub.subscribe(names.frames(organization, turn), listener),
    async loadFrames(organization, turn) {
      pubSub.flush();
      try {
        return await connection.during(readStoredFrames(bus, names.frames(organization, turn)));
      } catch (cause) {
        throw new Unavailable("The frames of the turn cannot be read now", { cause });
      }
    },
    requestStop(organization, turn, reason = "stopped") {
      const subject = names.stop(organization, turn);
      onStopRequest(subject, reason);
      pubSub.publish(subject, reason);
    },
    onStop(organization, turn, listener) {
      const subject = names.stop(organization, turn);
      const listeners = stopListeners.get(subject) ?? new Set();
      stopListeners.set(subject, listeners.add(listener));
      return () => {
        listeners.delete(listener);
        if (listeners.size === 0 && stopListeners.get(subject) === listeners) stopListeners.delete(subject);
      };
    },
  };
}

/** Reads with a temporary consumer, which every server since 2.9 supports. Takes two round trips and one delivery. */
async function readStoredFrames(
  { connection, streams: { jsm }, names }: BusContext,
  subject: string,
): Promise<Frame[]> {
  const stream = names.streams.frames;
  const { name, num_pending } = await jsm.consumers.add(stream, {
    filter_subject: subject,
    ack_policy: AckPolicy.None,
    mem_storage: true,
    inactive_threshold: nanos(10_000),
  });
  try {
    return await fetchFrames(connection, stream, name, num_pending);
  } finally {
    jsm.consumers.delete(stream, name).catch(() => {});
  }
}

async function fetchFrames(
  { nc }: BusContext["connection"],
  stream: string,
  name: string,
  count: number,
): Promise<Frame[]> {
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
