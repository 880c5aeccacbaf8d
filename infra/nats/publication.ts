import { setTimeout as delay } from "node:timers/promises";
import { headers, nuid } from "@nats-io/transport-node";
import type { Answer } from "#events/envelope.ts";
import type { Traced } from "#events/trace.ts";
import { Unavailable } from "#events/ports.ts";
import { ANSWER_TO, type Answers } from "./answers.ts";
import type { Acks, Stored } from "./acks.ts";
import type { Connection } from "./connection.ts";
import { isElecting, type Streams } from "./streams.ts";

const AGAIN_AFTER_MS = 3000;
/** A cluster that lost the leader of a stream elects another within 4 to 9 s; until then nobody takes what is published. */
const LEADER_LOOK_MS = 250;

export interface Publication {
  publish(): void;
  /** Publishes once more, unless this connection has said that it is stored: after 3 s, or when the connection is another. */
  publishIfLost(): void;
  /** How often it was published. */
  count(): number;
  forget(): void;
}

/**
 * One message into a stream, without waiting for its PubAck; `answered` hears what became of it, `refused` why the stream
 * did not take it.
 * Its message id is random: JetStream drops an equal id whoever sent it, and only our own repetitions may be dropped.
 */
export function publicationOf(
  { connection, streams, acks, answers }: { connection: Connection; streams: Streams; acks: Acks; answers: Answers },
  message: Pick<Traced, "traceparent"> & {
    subject: string;
    payload: Uint8Array;
    answered(answer: Answer): void;
    refused(reason: string): void;
  },
): Publication {
  const id = nuid.next();
  const sent = headers();
  sent.set("Nats-Msg-Id", id);
  sent.set(ANSWER_TO, answers.subject);
  if (message.traceparent) sent.set("traceparent", message.traceparent);
  const forgetAnswer = answers.expect(id, message.answered);
  let publishedAt = 0;
  let publishedIn = 0;
  let count = 0;
  let homeless = false;
  let forgotten = false;
  let storedIn: number | undefined;

  const publish = () => {
    publishedAt = Date.now();
    publishedIn = connection.epoch();
    count += 1;
    connection.wire.send(() => {
      try {
        connection.nc.publish(message.subject, message.payload, { headers: sent, reply: ack.reply });
      } catch (error) {
        message.refused(String(error));
      }
    });
  };
  /** A stream that is missing is made; one without a leader is asked again, until nobody waits for it any more. */
  const publishAgain = async () => {
    const repaired = streams.repair().catch((error: unknown) => {
      if (!isElecting(error) && !(error instanceof Unavailable)) message.refused(String(error));
    });
    const pause = delay(LEADER_LOOK_MS);
    await (homeless ? pause : Promise.race([repaired, pause]));
    homeless = true;
    if (!forgotten) publish();
  };
  const heard = (stored: Stored) => {
    if (stored === "stored") storedIn = connection.epoch();
    else if (stored === "no_responders") void publishAgain();
    else message.refused(stored.refused);
  };
  const ack = acks.expect(heard);
  return {
    publish,
    publishIfLost() {
      const epoch = connection.epoch();
      if (storedIn === epoch) return;
      if (publishedIn !== epoch || Date.now() - publishedAt >= AGAIN_AFTER_MS) publish();
    },
    count: () => count,
    forget() {
      forgotten = true;
      ack.forget();
      forgetAnswer();
    },
  };
}
