import { setTimeout as sleep } from "node:timers/promises";
import { jetstream } from "@nats-io/jetstream";
import { headers, nuid } from "@nats-io/transport-node";
import { Unavailable } from "#events/ports.ts";
import { ANSWER_TO_HEADER, CANARY_REFUSED, type Answers } from "./answers.ts";
import type { BusContext } from "./context.ts";

const POLL_MS = [10, 20, 50, 100, 200];
/** Longer than a busy process needs, and short enough that /readyz answers within 5 s. */
const LIMIT_MS = 2_000;

/** Versions without canaries drop it as a command that is too late, which acknowledges it as well. */
const CANARY = JSON.stringify({ id: "canary", type: "Canary", deadline: new Date(0).toISOString() });

/**
 * Sends a command without effect through the stream and checks that it is consumed. Under load it may wait behind others; then it
 * is enough that those are consumed. A worker that cannot write to the log answers before it acknowledges; other workers, and older
 * versions, do not answer.
 */
export async function checkDelivery(context: BusContext & { answers: Answers }): Promise<void> {
  const { answers, connection } = context;
  const id = nuid.next();
  let refusal: string | undefined;
  const stopExpecting = answers.expect(id, {
    onAnswer({ rejection }) {
      if (rejection?.code === CANARY_REFUSED) refusal = rejection.message;
    },
    onClaim: () => {},
  });
  try {
    await connection.during(watchCanary(context, id));
  } finally {
    stopExpecting();
  }
  if (refusal !== undefined) throw new Unavailable(refusal);
}

async function watchCanary(
  { connection, streams, names, answers }: BusContext & { answers: Answers },
  id: string,
): Promise<void> {
  const { jsm } = streams;
  const stream = names.streams.commands;
  const sent = headers();
  sent.set("Nats-Msg-Id", id);
  sent.set(ANSWER_TO_HEADER, answers.subject);
  const readAcknowledged = async () =>
    (await jsm.consumers.info(stream, names.durables.commands)).ack_floor.consumer_seq;
  const before = await readAcknowledged();
  const { seq } = await jetstream(connection.nc).publish(names.canary, CANARY, { timeout: LIMIT_MS, headers: sent });
  const until = performance.now() + LIMIT_MS;
  for (let n = 0; performance.now() < until; n++) {
    if (!(await jsm.streams.getMessage(stream, { seq }))) return;
    await sleep(POLL_MS[Math.min(n, POLL_MS.length - 1)]);
  }
  const hasMoved = (await readAcknowledged()) !== before;
  await jsm.streams.deleteMessage(stream, seq).catch(() => {});
  if (hasMoved) return;
  void streams.heal();
  throw new Unavailable(`no services process takes commands (none within ${LIMIT_MS / 1_000} s)`);
}
