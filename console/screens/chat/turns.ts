import type { HistoryMessage } from "../../api/answer.ts";
import type { Attachment, Message } from "../../api/chat.ts";
import type { LiveTurn } from "./liveTurns.ts";

/** One question and its answer. */
export interface Turn {
  /** Undefined until the service has accepted the question, and for turns that a fork takes from another thread. */
  id: string | undefined;
  text: string;
  attachments: Attachment[];
  answer: Message | undefined;
  /** Set while the answer is in progress. */
  live: LiveTurn | undefined;
}

/** The turns of a thread, including the one in progress. */
export function toTurns(messages: Message[], live: LiveTurn | undefined): Turn[] {
  const turns: Turn[] = [];
  for (const message of messages) {
    const id = message.turn_id;
    let turn = turns.at(-1);
    const isNext = turn?.id === id && turn.answer !== undefined && message.role !== "assistant";
    // the first turn of a fork contains earlier questions and answers, and only the last one is its own
    if (turn && isNext) turn.id = undefined;
    if (turn?.id !== id || isNext)
      turns.push((turn = { id, text: "", attachments: [], answer: undefined, live: undefined }));
    if (message.role === "assistant") turn.answer = message;
    else {
      turn.text = [turn.text, message.text].filter(Boolean).join("\n\n");
      turn.attachments = [...turn.attachments, ...message.attachments];
    }
  }
  if (!live) return turns;
  const known = turns.find(({ id }) => id !== undefined && id === live.answer.turn_id);
  if (known) known.live = live;
  else if (live.question)
    turns.push({
      id: live.answer.turn_id,
      text: live.question.text,
      attachments: live.question.files,
      answer: undefined,
      live,
    });
  return turns;
}

/** The earlier messages that a fork sends. Results of tools and files stay with their thread. */
export const toHistory = (messages: Message[]): HistoryMessage[] =>
  messages.flatMap(({ role, text }) =>
    (role === "user" || role === "assistant") && text !== "" ? [{ role, content: text }] : [],
  );
