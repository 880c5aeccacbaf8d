import { setImmediate as yieldToEvents } from "node:timers/promises";
import type { Model, ModelRequest } from "#services/turns/model.ts";
import { filesOf, lastUserParts, toolRounds, joinTexts, type FilePart } from "./conversation.ts";
import { requestedJson } from "./echo.ts";
import { quotePassages, searchError } from "./passages.ts";
import { bestSentences, MAX_READ } from "./sentences.ts";
import { streamToolCalls, streamAnswer } from "./streamAnswer.ts";

const SEARCH = "search_documents";
/** Maximum bytes of a UTF-16 unit in UTF-8. */
const UTF8_BYTES = 3;

const NOTHING =
  "I found nothing about this. I am offline/extractive: I quote sentences from documents, text attachments and this conversation, and write nothing of my own.";

const isText = ({ mime_type }: FilePart): boolean =>
  /^text\/|^application\/(.*\+)?(json|xml|yaml|x-yaml|markdown)\b/.test(mime_type);

interface Source {
  name: string;
  text: string;
}

/** Text attachments of the whole conversation, the newest first. */
const attachments = ({ messages }: ModelRequest): Source[] =>
  messages
    .toReversed()
    .flatMap(({ parts }) => filesOf(parts))
    .filter(isText)
    .map(({ filename, bytes }) => ({ name: filename, text: bytes.toString("utf8", 0, UTF8_BYTES * MAX_READ) }));

/** The conversation before the question. */
const earlierMessages = ({ messages }: ModelRequest): Source[] => {
  const question = messages.findLastIndex(({ role }) => role === "user");
  const texts = messages.slice(0, Math.max(0, question)).map(({ parts }) => joinTexts(parts));
  return [{ name: "this conversation", text: texts.join("\n\n") }];
};

async function answer(request: ModelRequest, nothing: string): Promise<string> {
  const question = joinTexts(lastUserParts(request));
  for (const sources of [attachments(request), earlierMessages(request)]) {
    const quotes: string[] = [];
    for (const { name, text } of sources) {
      await yieldToEvents();
      const sentences = await bestSentences(text, question);
      if (sentences.length > 0)
        quotes.push(`From ${name}:\n${sentences.map((sentence) => `> ${sentence}`).join("\n")}`);
    }
    if (quotes.length > 0) return quotes.join("\n\n");
  }
  return nothing;
}

/**
 * offline/extractive: quotes the sentences that best match the question: from documents if it may search, otherwise from
 * attachments, otherwise from the conversation.
 */
export const extractive: Model = {
  async *complete(request) {
    const json = requestedJson(request);
    const query = joinTexts(lastUserParts(request)).trim();
    const [searchRound] = toolRounds(request);
    const canSearch = json === undefined && query !== "" && request.tools.some(({ name }) => name === SEARCH);
    if (canSearch && !searchRound)
      return yield* streamToolCalls(request, [{ name: SEARCH, arguments: JSON.stringify({ query }) }]);
    const result = canSearch ? (searchRound?.results[0] ?? "") : "";
    const error = searchError(result);
    const nothing = error === undefined ? NOTHING : `The search failed: ${error}`;
    const quoted = canSearch ? await quotePassages(result, query) : undefined;
    yield* streamAnswer(request, quoted ?? { text: json ?? (await answer(request, nothing)) });
  },
};
