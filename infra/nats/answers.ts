import { nuid } from "@nats-io/transport-node";
import type { Answer } from "#events/envelope.ts";
import type { Names } from "./names.ts";
import type { Wire } from "./wire.ts";

/** Header of a command's message: where its answer is waited for. */
export const ANSWER_TO = "Svc-Answer-To";

/** An answer on its way, to the message with this id. */
export interface Answered {
  to: string;
  answer: Answer;
}

export interface Answers {
  /** The subject of this process's answers. */
  subject: string;
  /** Hears the answer to one message; two messages of the same command are answered each for itself. */
  expect(messageId: string, listener: (answer: Answer) => void): () => void;
}

/** Hears every answer of this process on one subscription. */
export function openAnswers(wire: Wire, names: Names): Answers {
  const subject = names.answers(nuid.next());
  const waiting = new Map<string, (answer: Answer) => void>();
  wire.listen(subject, ({ to, answer }: Answered) => waiting.get(to)?.(answer));
  return {
    subject,
    expect(messageId, listener) {
      waiting.set(messageId, listener);
      return () => waiting.delete(messageId);
    },
  };
}
