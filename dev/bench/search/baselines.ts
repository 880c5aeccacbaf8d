import { stemmer } from "@orama/stemmers/english";
import { stopwords } from "@orama/stopwords/english";
import { Agent, request } from "undici";
import type { Work } from "./corpus.ts";
import type { Library, Tenant } from "./library.ts";

/** Returns the texts of the best passages for a question, best first. */
export type Searcher = (question: string) => Promise<string[]>;

const [K1, B] = [1.2, 0.75];
const STOP_WORDS = new Set(stopwords);
const tokens = (text: string): string[] =>
  (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [])
    .filter((word) => !STOP_WORDS.has(word))
    .map((word) => stemmer(word));

/** BM25 in memory: stems without stop words, over the title, section, lead and text of each passage. */
export const plainBm25 = (works: Work[]): Searcher => {
  const passages = works.flatMap(({ name, pieces }) =>
    pieces.map(({ text, lead, section }) => {
      const words = tokens(`${name} ${section ?? ""} ${lead} ${text}`);
      return { text, length: words.length, counts: Map.groupBy(words, (word) => word) };
    }),
  );
  const mean = passages.reduce((sum, { length }) => sum + length, 0) / passages.length;
  const inverseFrequency = (term: string): number => {
    const matches = passages.filter(({ counts }) => counts.has(term)).length;
    return Math.log(1 + (passages.length - matches + 0.5) / (matches + 0.5));
  };
  return async (question) => {
    const terms = [...new Set(tokens(question))].map((term) => ({ term, idf: inverseFrequency(term) }));
    const scored = passages.map(({ text, length, counts }) => {
      const score = terms.reduce((sum, { term, idf }) => {
        const times = counts.get(term)?.length ?? 0;
        return sum + (idf * times * (K1 + 1)) / (times + K1 * (1 - B + (B * length) / mean));
      }, 0);
      return { text, score };
    });
    const ranked = scored.filter(({ score }) => score > 0).toSorted((a, b) => b.score - a.score);
    return ranked.slice(0, 10).map(({ text }) => text);
  };
};

/** Sends the question as one query to Meilisearch, with the tenant's filter and the default matching strategy (`last`). */
export const rawMeilisearch = (
  { url, key, id }: Library,
  { organization_id }: Tenant,
  { limit, texts }: { limit: number; texts: Map<string, string> },
) => {
  const dispatcher = new Agent();
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json", "accept-encoding": "identity" };
  const search: Searcher = async (question) => {
    const { body } = await request(`${url}/indexes/${id}/search`, {
      dispatcher,
      method: "POST",
      headers,
      body: JSON.stringify({ q: question, limit, filter: `org = "${organization_id}"` }),
    });
    const { hits } = (await body.json()) as { hits: { pk: string }[] };
    return hits.map(({ pk }) => texts.get(pk) ?? "");
  };
  return { search, close: () => dispatcher.close() };
};
