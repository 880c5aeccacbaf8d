import type { ConsumerInfo, StreamInfo } from "@nats-io/jetstream";

/**
 * What is wrong between a durable consumer and its stream.
 * `ahead`: the consumer remembers messages that the stream has lost, so it ignores the new ones that get their numbers.
 * `stranded`: a work queue holds a message that the consumer counts as acknowledged.
 * `stalled`: messages wait, workers ask for them, and the server delivers none.
 */
export type ConsumerFault = "ahead" | "stranded" | "stalled";

/** A consumer and its stream at one moment. The consumer is read first, because the stream's numbers only rise. */
export interface ConsumerSnapshot {
  consumer: ConsumerInfo;
  stream: StreamInfo;
}

function faultIn({ consumer, stream }: ConsumerSnapshot): ConsumerFault | undefined {
  const { delivered, ack_floor, num_pending, num_waiting, num_ack_pending, config } = consumer;
  const { last_seq, first_seq, messages } = stream.state;
  if (Math.max(delivered.stream_seq, ack_floor.stream_seq) > last_seq) return "ahead";
  if (stream.config.retention !== "workqueue") return undefined;
  if (messages > 0 && first_seq <= ack_floor.stream_seq) return "stranded";
  const hasRoom = num_ack_pending < (config.max_ack_pending ?? Infinity);
  return num_pending > 0 && num_waiting > 0 && hasRoom ? "stalled" : undefined;
}

/** The fault shown by two looks some time apart. A single look may coincide with a delivery or an acknowledgement. */
export function findConsumerFault(before: ConsumerSnapshot, after: ConsumerSnapshot): ConsumerFault | undefined {
  const fault = faultIn(before);
  if (!fault || faultIn(after) !== fault) return undefined;
  if (fault === "stranded" && before.stream.state.first_seq !== after.stream.state.first_seq) return undefined;
  const hasMoved = before.consumer.delivered.consumer_seq !== after.consumer.delivered.consumer_seq;
  return fault === "stalled" && hasMoved ? undefined : fault;
}

export const isSuspicious = (look: ConsumerSnapshot): boolean => faultIn(look) !== undefined;
