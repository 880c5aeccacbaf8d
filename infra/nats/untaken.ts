import { setTimeout as sleep } from "node:timers/promises";
import type { ConsumerInfo } from "@nats-io/jetstream";
import type { BusContext } from "./context.ts";
import type { Publication } from "./publication.ts";
import { withTimeout } from "./withTimeout.ts";

/** After this silence a worker no longer works on a command: a working one repeats its claim several times a second. */
const CLAIM_MS = 2_500;
const INFO_MS = 800;
const DELETE_MS = 400;
/** Pause between two looks: a single one may come between two pull requests of a worker. */
const BETWEEN_LOOKS_MS = 150;

type Bus = Pick<BusContext, "connection" | "streams" | "names">;

const readConsumer = ({ connection, streams, names }: Bus): Promise<ConsumerInfo | undefined> =>
  withTimeout(
    connection.during(streams.jsm.consumers.info(names.streams.commands, names.durables.commands)),
    INFO_MS,
  ).catch(() => undefined);

/** Whether a worker has the message, as far as it has said so. */
export const isClaimed = (publication: Publication): boolean => publication.sinceClaim() < CLAIM_MS;

/**
 * Whether no worker has the message and none is about to get it. A recent claim shows that one has it. Without a claim, it is untaken if
 * it is not known to be stored, if JetStream does not answer, if it was not delivered, or if it was delivered and no worker has an open
 * pull request: such a worker would get it by redelivery if the process that took it has died. JetStream counts the pull requests of a
 * dead worker for some seconds, so they say nothing once a claim is due.
 */
export async function isUntaken(bus: Bus, publication: Publication, isClaimDue: boolean): Promise<boolean> {
  const seq = publication.storedAt();
  if (isClaimed(publication)) return false;
  if (seq === undefined || isClaimDue) return true;
  const isWaiting = ({ delivered, num_waiting }: ConsumerInfo) => delivered.stream_seq >= seq && num_waiting > 0;
  const first = await readConsumer(bus);
  if (!first || first.delivered.stream_seq < seq) return true;
  if (isWaiting(first)) return false;
  await sleep(BETWEEN_LOOKS_MS);
  const second = await readConsumer(bus);
  return !second || !isWaiting(second);
}

/** Removes a command that was given up. If this fails, the worker that takes the command asks first, and then drops it. */
export async function withdrawCommand({ connection, streams, names }: Bus, publication: Publication): Promise<void> {
  const seq = publication.storedAt();
  publication.close();
  if (seq === undefined) return;
  const removed = connection.during(streams.jsm.streams.deleteMessage(names.streams.commands, seq));
  await withTimeout(removed, DELETE_MS).catch(() => {});
}
