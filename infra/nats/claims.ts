import type { JsMsg } from "@nats-io/jetstream";
import { nuid } from "@nats-io/transport-node";
import { Unavailable } from "#events/ports.ts";
import { ANSWER_TO_HEADER, ASK_FIRST_HEADER, type ClaimMessage, type ClaimReply } from "./answers.ts";
import type { BusContext } from "./context.ts";
import { withTimeout } from "./withTimeout.ts";

const REPLY_MS = 1_000;

export interface Claims {
  /**
   * Asks the sender whether it still waits, and keeps it waiting if so. False if it has given up: its client may have repeated the
   * request, so the message must not take effect. Throws Unavailable if the sender does not reply.
   */
  claim(message: JsMsg): Promise<boolean>;
  /** Tells the sender that a worker still has the message. */
  announce(message: JsMsg): void;
}

/** Where a message's sender receives claims; undefined if it waits until the deadline anyway. */
function senderOf({ headers }: JsMsg): { subject: string; to: string } | undefined {
  const [subject, to] = [headers?.get(ANSWER_TO_HEADER), headers?.get("Nats-Msg-Id")];
  return headers?.has(ASK_FIRST_HEADER) && subject && to ? { subject, to } : undefined;
}

/** The worker's part in giving up commands (docs/adr/0076-a-command-that-nobody-takes-is-given-up.md). */
export function openClaims({ connection: { pubSub }, names }: Pick<BusContext, "connection" | "names">): Claims {
  const inbox = names.hint.claims(nuid.next());
  const waiting = new Map<string, (isGranted: boolean) => void>();
  pubSub.subscribe(inbox, ({ claim, isGranted }: ClaimReply) => waiting.get(claim)?.(isGranted));
  return {
    async claim(message) {
      const sender = senderOf(message);
      if (!sender) return true;
      const claim = nuid.next();
      const { promise, resolve } = Promise.withResolvers<boolean>();
      waiting.set(claim, resolve);
      const claimMessage: ClaimMessage = { to: sender.to, claim, reply_to: inbox };
      pubSub.publishToOne(sender.subject, claimMessage);
      const isGranted = await withTimeout(promise, REPLY_MS).finally(() => waiting.delete(claim));
      if (isGranted === undefined) throw new Unavailable("The sender of a late command does not reply");
      return isGranted;
    },
    announce(message) {
      const sender = senderOf(message);
      if (sender) pubSub.publishToOne(sender.subject, { to: sender.to, claim: nuid.next() } satisfies ClaimMessage);
    },
  };
}
