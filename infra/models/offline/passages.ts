import { z } from "zod";
import type { Citation } from "#events/thread.ts";
import { placeOf, PlaceInDocument } from "#events/turnOutput.ts";
import { parseJson } from "../wire/json.ts";
import { bestQuotes, firstSentences, type Quote } from "./sentences.ts";

/** The fields of a search_documents result that are read. */
const SearchResult = z.object({
  results: z.array(
    z.object({
      document: z.string(),
      reference: z.string(),
      url: z.string(),
      content: z.string(),
      ...PlaceInDocument.shape,
    }),
  ),
});

const SearchError = z.object({ error: z.string() });

/** Why a search failed; undefined if it did not. */
export const searchError = (result: string): string | undefined => SearchError.safeParse(parseJson(result)).data?.error;

/** The sentences of the found passages that best match a question, each with its source; undefined without passages. */
export async function quotePassages(
  result: string,
  question: string,
): Promise<{ text: string; citations: Citation[] } | undefined> {
  const { results } = SearchResult.safeParse(parseJson(result)).data ?? { results: [] };
  const [best] = results;
  if (!best) return undefined;
  const matching = await bestQuotes(
    results.map(({ content }) => content),
    question,
  );
  const quotes =
    matching.length > 0 ? matching : firstSentences(best.content).map((sentence): Quote => ({ sentence, from: 0 }));
  let text = "";
  const citations: Citation[] = [];
  for (const [n, { document, reference, url, ...place }] of results.entries()) {
    const sentences = quotes.filter(({ from }) => from === n).map(({ sentence }) => `> ${sentence}`);
    if (sentences.length === 0) continue;
    const title = `${document}, ${reference}`;
    const start_index = text.length + (text === "" ? 0 : 2);
    text += `${text === "" ? "" : "\n\n"}From ${title}:\n${sentences.join("\n")}`;
    citations.push({ url, title, start_index, end_index: text.length, ...placeOf(place) });
  }
  return { text, citations };
}
