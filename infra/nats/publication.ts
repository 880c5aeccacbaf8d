import { setTimeout as delay } from "node:timers/promises";
import { headers, nuid, type PublishOptions } from "@nats-io/transport-node";
import type { CommandResult } from "#events/envelope.ts";
import type { TraceHeaders } from "#events/trace.ts";
import { Unavailable } from "#events/ports.ts";
import { ANSWER_TO_HEADER, ASK_FIRST_HEADER, type Answers } from "./answers.ts";
import type { Acks, PubAck } from "./acks.ts";
import type { Connection } from "./connection.ts";
import type { BusContext } from "./context.ts";
import { isElecting } from "./streams.ts";

const REPUBLISH_AFTER_MS = 3000;
/** Poll interval while a stream has no leader. A cluster elects a new one within 4 to 9 s; until then publishing fails. */
const ELECTION_POLL_MS = 250;

export interface Publication {
  publish(): void;
  /** Publishes again after 3 s, or after a reconnect, unless the message was acknowledged on the current connection. */
  publishIfLost(): void;
  /** How often it was published. */
  count(): number;
  /** Its sequence number in the stream; undefined until a PubAck arrives. */
  storedAt(): number | undefined;
  /** Milliseconds since a worker last claimed the message; Infinity if none has. */
  sinceClaim(): number;
  /** Ends the publication: workers that ask from now on drop the message. */
  close(): void;
}

interface OutgoingMessage extends Pick<TraceHeaders, "traceparent"> {
  subject: string;
  payload: Uint8Array;
  onAnswer(answer: CommandResult): void;
  /** Called if the stream refuses the message. */
  onRefused(reason: string): void;
}

/**
 * The message id is random: JetStream drops messages with a known id, and only our own repetitions may be dropped
 * (docs/adr/0005-nats-dedupe-is-not-used.md).
 */
function headersFor({ traceparent }: OutgoingMessage, id: string, answers: Answers) {
  const sent = headers();
  sent.set("Nats-Msg-Id", id);
  sent.set(ANSWER_TO_HEADER, answers.subject);
  sent.set(ASK_FIRST_HEADER, "1");
  if (traceparent) sent.set("traceparent", traceparent);
  return sent;
}

function publishNow({ nc, pubSub }: Connection, message: OutgoingMessage, options: PublishOptions): void {
  pubSub.batch(() => {
    try {
      nc.publish(message.subject, message.payload, options);
    } catch (error) {
      message.onRefused(String(error));
    }
  });
}

/** Publishes one message to a stream without waiting for its PubAck. */
export function createPublication(
  { connection, streams, acks, answers }: Pick<BusContext, "connection" | "streams"> & { acks: Acks; answers: Answers },
  message: OutgoingMessage,
): Publication {
  const id = nuid.next();
  const sent = headersFor(message, id, answers);
  let claimedAt = -Infinity;
  const onClaim = () => void (claimedAt = performance.now());
  const stopExpectingAnswer = answers.expect(id, { onAnswer: message.onAnswer, onClaim });
  let count = 0;
  let publishedAt = 0;
  let publishedEpoch = 0;
  let stored: { epoch: number; seq: number } | undefined;
  let isWaitingForLeader = false;
  let isClosed = false;

  const publish = () => {
    publishedAt = performance.now();
    publishedEpoch = connection.epoch();
    count += 1;
    publishNow(connection, message, { headers: sent, reply: ack.reply });
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
    if (result === "no_responders") void repairAndPublish();
    else if ("stored" in result) stored = { epoch: connection.epoch(), seq: result.stored };
    else message.onRefused(result.refused);
  };
  const ack = acks.expect(onAck);
  return {
    publish,
    publishIfLost() {
      const epoch = connection.epoch();
      if (stored?.epoch === epoch) return;
      if (publishedEpoch !== epoch || performance.now() - publishedAt >= REPUBLISH_AFTER_MS) publish();
    },
    count: () => count,
    storedAt: () => stored?.seq,
    sinceClaim: () => performance.now() - claimedAt,
    close() {
      isClosed = true;
      ack.stop();
      stopExpectingAnswer();
    },
  };
}
