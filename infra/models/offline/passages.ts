import { z } from "zod";
import type { Citation } from "#events/thread.ts";
import { bestQuotes, firstSentences, type Quote } from "./sentences.ts";

/** What is read of the answer of search_documents. */
const Found = z.object({
  results: z.array(z.object({ document: z.string(), reference: z.string(), url: z.string(), content: z.string() })),
});

/** The sentences of found passages that answer a question best, each with its source; undefined when nothing was found. */
export function quotePassages(result: string, question: string): { text: string; citations: Citation[] } | undefined {
  const { results } = Found.safeParse(jsonOf(result)).data ?? { results: [] };
  const [best] = results;
  if (!best) return undefined;
  const shared = bestQuotes(
    results.map(({ content }) => content),
    question,
  );
  const quotes =
    shared.length > 0 ? shared : firstSentences(best.content).map((sentence): Quote => ({ sentence, from: 0 }));
  let text = "";
  const citations: Citation[] = [];
  for (const [n, { document, reference, url }] of results.entries()) {
    const sentences = quotes.filter(({ from }) => from === n).map(({ sentence }) => `> ${sentence}`);
    if (sentences.length === 0) continue;
    const title = `${document}, ${reference}`;
    const start_index = text.length + (text === "" ? 0 : 2);
    text += `${text === "" ? "" : "\n\n"}From ${title}:\n${sentences.join("\n")}`;
    citations.push({ url, title, start_index, end_index: text.length });
  }
  return { text, citations };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
