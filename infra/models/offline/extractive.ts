import { setImmediate as breathe } from "node:timers/promises";
import type { Model, ModelRequest } from "#services/turns/model.ts";
import { filesOf, lastUserParts, roundsBefore, textOf, type FilePart } from "./conversation.ts";
import { wantedJson } from "./echo.ts";
import { quotePassages } from "./passages.ts";
import { bestSentences } from "./sentences.ts";
import { askFor, speak } from "./speak.ts";

const SEARCH = "search_documents";

const NOTHING =
  "I found nothing about this. I am offline/extractive: I quote sentences from documents, text attachments and this conversation, and write nothing of my own.";

const isText = ({ mime_type }: FilePart): boolean =>
  /^text\/|^application\/(.*\+)?(json|xml|yaml|x-yaml|markdown)\b/.test(mime_type);

interface Source {
  name: string;
  text: string;
}

/** Attachments of the whole conversation, the newest first. */
const attached = ({ messages }: ModelRequest): Source[] =>
  messages
    .toReversed()
    .flatMap(({ parts }) => filesOf(parts))
    .filter(isText)
    .map(({ filename, bytes }) => ({ name: filename, text: bytes.toString("utf8") }));

/** What was said before the question. */
const earlier = ({ messages }: ModelRequest): Source[] => {
  const asked = messages.findLastIndex(({ role }) => role === "user");
  const said = messages.slice(0, Math.max(0, asked)).map(({ parts }) => textOf(parts));
  return [{ name: "this conversation", text: said.join("\n\n") }];
};

async function answer(request: ModelRequest): Promise<string> {
  const question = textOf(lastUserParts(request));
  for (const sources of [attached(request), earlier(request)]) {
    const quotes: string[] = [];
    for (const { name, text } of sources) {
      await breathe();
      const sentences = bestSentences(text, question);
      if (sentences.length > 0)
        quotes.push(`From ${name}:\n${sentences.map((sentence) => `> ${sentence}`).join("\n")}`);
    }
    if (quotes.length > 0) return quotes.join("\n\n");
  }
  return NOTHING;
}

/** offline/extractive: quotes the sentences that answer best, of documents where it may search, of attachments, or else of what was said before. */
export const extractive: Model = {
  async *complete(request) {
    const json = wantedJson(request);
    const query = textOf(lastUserParts(request)).trim();
    const [searched] = roundsBefore(request);
    const searches = json === undefined && query !== "" && request.tools.some(({ name }) => name === SEARCH);
    if (searches && !searched) return yield* askFor(request, [{ name: SEARCH, arguments: JSON.stringify({ query }) }]);
    const quoted = searches ? quotePassages(searched?.results[0] ?? "", query) : undefined;
    yield* speak(request, quoted ?? { text: json ?? (await answer(request)) });
  },
};
