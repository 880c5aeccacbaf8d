import type { Message } from "./thread.ts";

const MAX_LENGTH = 80;
/** A title is cut at a space if at least this many characters remain. */
const MIN_LENGTH = 40;
/** Characters of the message that are read, because it may be megabytes long. White space is collapsed. */
const MAX_READ = 1_000;

/** The first words of the first user message; null if it has no text. */
export function titleOf(messages: Pick<Message, "role" | "text">[]): string | null {
  const question = messages.find(({ role }) => role === "user")?.text ?? "";
  const text = question.slice(0, MAX_READ).replace(/\s+/g, " ").trim();
  if (text.length <= MAX_LENGTH) return text === "" ? null : text;
  const cut = text.slice(0, MAX_LENGTH);
  const space = cut.lastIndexOf(" ");
  const words = space >= MIN_LENGTH ? cut.slice(0, space) : cut.replace(/[\ud800-\udbff]$/, "");
  return `${words}…`;
}
