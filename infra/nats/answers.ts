import { nuid } from "@nats-io/transport-node";
import type { CommandResult } from "#events/envelope.ts";
import type { Names } from "./names.ts";
import type { PubSub } from "./pubSub.ts";

/** Header of a command's message: the subject for its answer. */
export const ANSWER_TO = "Svc-Answer-To";

/** An answer to the message with the id `to`. */
export interface AnswerMessage {
  to: string;
  answer: CommandResult;
}

export interface Answers {
  /** The subject of this process's answers. */
  subject: string;
  /** Receives the answer to one message. Two messages of the same command get an answer each. */
  expect(messageId: string, listener: (answer: CommandResult) => void): () => void;
}

/** Receives every answer of this process on one subscription. */
export function openAnswers(pubSub: PubSub, names: Names): Answers {
  const subject = names.answers(nuid.next());
  const listeners = new Map<string, (answer: CommandResult) => void>();
  pubSub.subscribe(subject, ({ to, answer }: AnswerMessage) => listeners.get(to)?.(answer));
  return {
    subject,
    expect(messageId, listener) {
      listeners.set(messageId, listener);
      return () => listeners.delete(messageId);
    },
  };
}
