import type { EngineQuery, PassageId, SearchEngine, Within } from "./engine.ts";
import { rarity, type Weighed } from "./rank.ts";
import type { Question } from "./terms.ts";

const SAFETY_NET = 50;
/** BM25 gives a word less than this, however often it is there: who quotes a phrase wants it before its single words. */
const MOST_A_WORD = 2.2;
/** At this place among a term's passages its rarity counts half. */
const HALF = 400;

export interface Candidate extends PassageId {
  key: string;
  /** The sum of the rarity of the terms that found it, a little less the further down each did. */
  weight: number;
}

export interface Candidates {
  /** The weightiest first, then by document and place. */
  passages: Candidate[];
  terms: Weighed[];
  /** Keys of the passages with the words of a quoted phrase in one field, each with more than these come to one by one. */
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
    return { ...term, idf: rarity(total, everything!.total), found: placesOf(ids) };
  });
  const found = new Map<string, PassageId>();
  for (const { ids } of answers) for (const id of ids) found.set(keyOf(id), id);
  const phrased = phrasesFound(phrases, answers.slice(terms.length), weighed);
  const caught = placesOf(answers.at(-1)!.ids);
  const weightOf = weighing(weighed, phrased, caught);
  const passages = [...found].map(([key, id]): Candidate => ({ ...id, key, weight: weightOf(key) }));
  return {
    passages: passages.toSorted((a, b) => b.weight - a.weight || byPlace(a, b)),
    terms: weighed,
    phrases: phrased,
    more: answers.slice(0, -1).some(({ ids, total }) => ids.length < total),
    most: answers.reduce((sum, { total }) => sum + total, 0),
  };
};

const placesOf = (ids: PassageId[]): Map<string, number> => new Map(ids.map((id, rank) => [keyOf(id), rank]));

/** What a term counts for the passage at this place of its list. */
export const faded = (weight: number, rank: number | undefined): number =>
  rank === undefined ? 0 : weight / (1 + rank / HALF);

/** Where every word is frequent, the passages with all of them are in the safety net and on no term's own list. */
const weighing = (terms: Weighed[], phrases: Map<string, number>, caught: Map<string, number>) => {
  const half = terms.reduce((sum, { idf }) => sum + idf, 0) / 2;
  return (key: string): number => {
    const own = terms.reduce((sum, { idf, found }) => sum + faded(idf, found.get(key)), 0);
    return Math.max(own + (phrases.get(key) ?? 0), faded(half, caught.get(key)));
  };
};

const phrasesFound = (phrases: string[], answers: { ids: PassageId[] }[], terms: Weighed[]): Map<string, number> => {
  const found = new Map<string, number>();
  for (const [n, phrase] of phrases.entries()) {
    const words = terms.filter(({ prefix }) => phrase.includes(prefix));
    const bonus = MOST_A_WORD * words.reduce((sum, { idf }) => sum + idf, 0);
    for (const id of answers[n]!.ids) found.set(keyOf(id), (found.get(keyOf(id)) ?? 0) + bonus);
  }
  return found;
};
