import { setTimeout as delay } from "node:timers/promises";
import { headers, nuid } from "@nats-io/transport-node";
import type { CommandResult } from "#events/envelope.ts";
import type { TraceHeaders } from "#events/trace.ts";
import { Unavailable } from "#events/ports.ts";
import { ANSWER_TO, type Answers } from "./answers.ts";
import type { Acks, PubAck } from "./acks.ts";
import type { BusContext } from "./context.ts";
import { isElecting } from "./streams.ts";

const REPUBLISH_AFTER_MS = 3000;
/** Pause while a stream has no leader. A cluster elects a new one within 4 to 9 s; until then publishing fails. */
const ELECTION_POLL_MS = 250;

export interface Publication {
  publish(): void;
  /** Publishes again after 3 s, or after a reconnect, unless the current connection has acknowledged it. */
  publishIfLost(): void;
  /** How many times it was published. */
  count(): number;
  close(): void;
}

interface OutgoingMessage extends Pick<TraceHeaders, "traceparent"> {
  subject: string;
  payload: Uint8Array;
  onAnswer(answer: CommandResult): void;
  /** Called when the stream does not accept the message. */
  onRefused(reason: string): void;
}

/**
 * The message id is random: JetStream drops messages with an id that it knows, and only our own repetitions may be dropped
 * (docs/adr/0005-nats-dedupe-is-not-used.md).
 */
function headersFor({ traceparent }: OutgoingMessage, id: string, answers: Answers) {
  const sent = headers();
  sent.set("Nats-Msg-Id", id);
  sent.set(ANSWER_TO, answers.subject);
  if (traceparent) sent.set("traceparent", traceparent);
  return sent;
}

/** Publishes one message to a stream without waiting for its PubAck. */
export function createPublication(
  { connection, streams, acks, answers }: Pick<BusContext, "connection" | "streams"> & { acks: Acks; answers: Answers },
  message: OutgoingMessage,
): Publication {
  const id = nuid.next();
  const sent = headersFor(message, id, answers);
  const stopExpectingAnswer = answers.expect(id, message.onAnswer);
  let count = 0;
  let publishedAt = 0;
  let publishedEpoch = 0;
  let storedEpoch: number | undefined;
  let isWaitingForLeader = false;
  let isClosed = false;

  const publish = () => {
    publishedAt = Date.now();
    publishedEpoch = connection.epoch();
    count += 1;
    connection.pubSub.batch(() => {
      try {
        connection.nc.publish(message.subject, message.payload, { headers: sent, reply: ack.reply });
      } catch (error) {
        message.onRefused(String(error));
      }
    });
  };
  /** Creates the stream if it is missing, and polls while it has no leader, until the publication is closed. */
  const repairAndPublish = async () => {
    const repaired = streams.repair().catch((error: unknown) => {
      if (!isElecting(error) && !(error instanceof Unavailable)) message.onRefused(String(error));
    });
    const pause = delay(ELECTION_POLL_MS);
    await (isWaitingForLeader ? pause : Promise.race([repaired, pause]));
    isWaitingForLeader = true;
    if (!isClosed) publish();
  };
  const onAck = (result: PubAck) => {
    if (result === "stored") storedEpoch = connection.epoch();
    else if (result === "no_responders") void repairAndPublish();
    else message.onRefused(result.refused);
  };
  const ack = acks.expect(onAck);
  return {
    publish,
    publishIfLost() {
      const epoch = connection.epoch();
      if (storedEpoch === epoch) return;
      if (publishedEpoch !== epoch || Date.now() - publishedAt >= REPUBLISH_AFTER_MS) publish();
    },
    count: () => count,
    close() {
      isClosed = true;
      ack.stop();
      stopExpectingAnswer();
    },
  };
}
