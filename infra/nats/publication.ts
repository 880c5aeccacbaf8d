import { headers, nuid } from "@nats-io/transport-node";
import type { Answer } from "#events/envelope.ts";
import { ANSWER_TO, type Answers } from "./answers.ts";
import type { Acks, Stored } from "./acks.ts";
import type { Connection } from "./connection.ts";
import type { Streams } from "./streams.ts";

const AGAIN_AFTER_MS = 3000;

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
  message: { subject: string; payload: Uint8Array; answered(answer: Answer): void; refused(reason: string): void },
): Publication {
  const id = nuid.next();
  const sent = headers();
  sent.set("Nats-Msg-Id", id);
  sent.set(ANSWER_TO, answers.subject);
  const forgetAnswer = answers.expect(id, message.answered);
  let publishedAt = 0;
  let publishedIn = 0;
  let count = 0;
  let repaired = false;
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
  const repairAndPublish = async () => {
    try {
      await streams.repair();
      publish();
    } catch (error) {
      message.refused(String(error));
    }
  };
  const heard = (stored: Stored) => {
    if (stored === "stored") storedIn = connection.epoch();
    else if (stored !== "no_responders") message.refused(stored.refused);
    else if (repaired) message.refused("there is no stream");
    else {
      repaired = true;
      void repairAndPublish();
    }
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
      ack.forget();
      forgetAnswer();
    },
  };
}
