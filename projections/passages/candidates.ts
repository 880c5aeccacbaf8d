import type { EngineQuery, PassageId, SearchEngine, Within } from "./engine.ts";
import { rarity, type Weighed } from "./rank.ts";
import type { Question } from "./terms.ts";

const SAFETY_NET = 50;

export interface Candidate extends PassageId {
  key: string;
  /** The sum of the rarity of the terms that found it. */
  weight: number;
}

export interface Candidates {
  /** The weightiest first, then by document and place. */
  passages: Candidate[];
  terms: Weighed[];
  /** Keys of the passages with a quoted phrase, each with the rarity of its words. */
  phrases: Map<string, number>;
  /** Whether the search server knows more than it was asked for, and at most how many there are. */
  more: boolean;
  most: number;
}

export const keyOf = ({ document_id, generation, seq }: PassageId): string => `${document_id} ${generation} ${seq}`;
export const byPlace = (a: PassageId, b: PassageId): number =>
  a.document_id === b.document_id ? a.seq - b.seq : a.document_id < b.document_id ? -1 : 1;

/**
 * Passages with any of the terms. A question as one query finds little: every word must be there, only ten count, and
 * one that nobody wrote finds nothing. So each term is a query, and one with all of them catches what these leave out.
 */
export const findCandidates = async (
  { engine, index, within }: { engine: SearchEngine; index: string; within: Within },
  { terms, phrases }: Question,
  limit: number,
): Promise<Candidates> => {
  const all = (words: string, most = limit): EngineQuery => ({ words, matching: "all", limit: most });
  const [everything, ...answers] = await engine.search(index, within, [
    all("", 0),
    ...terms.map(({ prefix }) => all(prefix)),
    ...phrases.map((phrase) => all(`"${phrase}"`)),
    { words: terms.map(({ prefix }) => prefix).join(" "), matching: "rarest", limit: SAFETY_NET },
  ]);
  const weighed = terms.map((term, n): Weighed => {
    const { ids, total } = answers[n]!;
    return { ...term, idf: rarity(total, everything!.total), found: new Set(ids.map(keyOf)) };
  });
  const found = new Map<string, PassageId>();
  for (const { ids } of answers) for (const id of ids) found.set(keyOf(id), id);
  const passages = [...found].map(([key, id]): Candidate => ({ ...id, key, weight: weightOf(key, weighed) }));
  return {
    passages: passages.toSorted((a, b) => b.weight - a.weight || byPlace(a, b)),
    terms: weighed,
    phrases: phrasesFound(phrases, answers.slice(terms.length), weighed),
    more: answers.slice(0, -1).some(({ ids, total }) => ids.length < total),
    most: answers.reduce((sum, { total }) => sum + total, 0),
  };
};

const weightOf = (key: string, terms: Weighed[]): number =>
  terms.reduce((sum, { idf, found }) => (found.has(key) ? sum + idf : sum), 0);

const phrasesFound = (phrases: string[], answers: { ids: PassageId[] }[], terms: Weighed[]): Map<string, number> => {
  const found = new Map<string, number>();
  for (const [n, phrase] of phrases.entries()) {
    const bonus = terms.filter(({ prefix }) => phrase.includes(prefix)).reduce((sum, { idf }) => sum + idf, 0);
    for (const id of answers[n]!.ids) found.set(keyOf(id), (found.get(keyOf(id)) ?? 0) + bonus);
  }
  return found;
};
