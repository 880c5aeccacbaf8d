import { nuid } from "@nats-io/transport-node";
import type { CommandResult } from "#events/envelope.ts";
import type { Names } from "./names.ts";
import type { PubSub } from "./pubSub.ts";

/** Header of a command's message: the subject for its answer. */
export const ANSWER_TO_HEADER = "Svc-Answer-To";
/**
 * Header of a command whose sender may give up early: a worker that takes it late must ask first (claims.ts). Senders of older
 * versions do not set it.
 */
export const ASK_FIRST_HEADER = "Svc-Ask-First";

/** Code of the answer to a canary taken by a worker while commands cannot take effect. */
export const CANARY_REFUSED = "canary_refused";

/** An answer to the message with the id `to`. */
export interface AnswerMessage {
  to: string;
  answer: CommandResult;
}

/** Says that a worker has the message with the id `to`. With `reply_to` it asks whether the sender still waits. */
export interface ClaimMessage {
  to: string;
  claim: string;
  reply_to?: string;
}

export interface ClaimReply {
  claim: string;
  isGranted: boolean;
}

interface Waiter {
  onAnswer(answer: CommandResult): void;
  /** Called when a worker has the message, so that the sender keeps waiting. */
  onClaim(): void;
}

export interface Answers {
  /** The subject for answers to this process. */
  subject: string;
  /**
   * Waits for the answer to one message; two messages of the same command are answered separately. The returned function stops
   * waiting. From then on, workers that ask get the answer that nobody waits.
   */
  expect(messageId: string, waiting: Waiter): () => void;
}

/** Receives every answer and every claim of this process on one subscription. */
export function openAnswers(pubSub: PubSub, names: Names): Answers {
  const subject = names.answers(nuid.next());
  const listeners = new Map<string, Waiter>();
  pubSub.subscribe(subject, (message: AnswerMessage | ClaimMessage) => {
    const waiting = listeners.get(message.to);
    if ("answer" in message) return waiting?.onAnswer(message.answer);
    waiting?.onClaim();
    const reply: ClaimReply = { claim: message.claim, isGranted: waiting !== undefined };
    if (message.reply_to) pubSub.publishToOne(message.reply_to, reply);
  });
  return {
    subject,
    expect(messageId, waiting) {
      listeners.set(messageId, waiting);
      return () => listeners.delete(messageId);
    },
  };
}
