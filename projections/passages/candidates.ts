import type { EngineQuery, PassageId, SearchEngine, SearchScope } from "./engine.ts";
import { inverseDocumentFrequency, type WeightedTerm } from "./rank.ts";
import { serverOperators, type Operators } from "./operators.ts";
import type { Question } from "./terms.ts";

/** Passages of the query with all terms, which finds what the queries of single terms miss. */
const COMBINED_LIMIT = 50;
/** Upper bound of a word's BM25 score, in units of its idf. A passage with a quoted phrase gets it as a bonus, to rank first. */
const MAX_WORD_SCORE = 2.2;
/** The rank in a term's list at which the term counts half. */
const HALF_WEIGHT_RANK = 400;

export interface Candidate extends PassageId {
  key: string;
  /** Sum of the idf of the terms that found it. Each counts less, the lower the passage is in its list. */
  weight: number;
}

export interface Candidates {
  /** By weight, heaviest first, then by document and position. */
  passages: Candidate[];
  terms: WeightedTerm[];
  /** The bonus of each passage, by key, that has the words of a quoted phrase in one field. */
  phrases: Map<string, number>;
  /** Whether the search server has more matches than the limit. */
  more: boolean;
  /** Upper bound of the number of matches. */
  most: number;
}

export const passageKey = ({ document_id, generation, seq }: PassageId): string =>
  `${document_id} ${generation} ${seq}`;
export const compareByPlace = (a: PassageId, b: PassageId): number =>
  a.document_id === b.document_id ? a.seq - b.seq : a.document_id < b.document_id ? -1 : 1;

/**
 * Finds passages with any of the terms. One query for the whole question finds little: every word must match, only ten
 * words count, and a single unknown word finds nothing. So each term is a query, and one more query combines all terms.
 */
export const findCandidates = async (
  { engine, index, within }: { engine: SearchEngine; index: string; within: SearchScope },
  { terms, phrases }: Question,
  limit: number,
  operators?: Operators,
): Promise<Candidates> => {
  // the server takes the last word as the beginning of words, so operators come first
  const first = operators ? `${serverOperators(operators)} ` : "";
  const all = (words: string, most = limit): EngineQuery => ({ words: first + words, matching: "all", limit: most });
  const [everything, ...answers] = await engine.search(index, within, [
    all("", 0),
    ...terms.map(({ prefix }) => all(prefix)),
    ...phrases.map((phrase) => all(`"${phrase}"`)),
    { words: first + terms.map(({ prefix }) => prefix).join(" "), matching: "rarest", limit: COMBINED_LIMIT },
  ]);
  const weighted = terms.map((term, n): WeightedTerm => {
    const { ids, total } = answers[n]!;
    return { ...term, idf: inverseDocumentFrequency(total, everything!.total), found: ranksByKey(ids) };
  });
  const found = new Map<string, PassageId>();
  for (const { ids } of answers) for (const id of ids) found.set(passageKey(id), id);
  const bonuses = phraseBonuses(phrases, answers.slice(terms.length), weighted);
  const weigh = createWeight(weighted, bonuses, ranksByKey(answers.at(-1)!.ids));
  const passages = [...found].map(([key, id]): Candidate => ({ ...id, key, weight: weigh(key) }));
  return {
    passages: passages.toSorted((a, b) => b.weight - a.weight || compareByPlace(a, b)),
    terms: weighted,
    phrases: bonuses,
    more: answers.slice(0, -1).some(({ ids, total }) => ids.length < total),
    most: answers.reduce((sum, { total }) => sum + total, 0),
  };
};

const ranksByKey = (ids: PassageId[]): Map<string, number> => new Map(ids.map((id, rank) => [passageKey(id), rank]));

/** The share of a term's weight for the passage at this rank of its list. */
export const decay = (weight: number, rank: number | undefined): number =>
  rank === undefined ? 0 : weight / (1 + rank / HALF_WEIGHT_RANK);

/** If all terms are frequent, the passages with all of them are only in the combined list. They count as half of all terms. */
const createWeight = (terms: WeightedTerm[], phrases: Map<string, number>, combined: Map<string, number>) => {
  const half = terms.reduce((sum, { idf }) => sum + idf, 0) / 2;
  return (key: string): number => {
    const own = terms.reduce((sum, { idf, found }) => sum + decay(idf, found.get(key)), 0);
    return Math.max(own + (phrases.get(key) ?? 0), decay(half, combined.get(key)));
  };
};

const phraseBonuses = (
  phrases: string[],
  answers: { ids: PassageId[] }[],
  terms: WeightedTerm[],
): Map<string, number> => {
  const found = new Map<string, number>();
  for (const [n, phrase] of phrases.entries()) {
    const words = terms.filter(({ prefix }) => phrase.includes(prefix));
    const bonus = MAX_WORD_SCORE * words.reduce((sum, { idf }) => sum + idf, 0);
    for (const id of answers[n]!.ids) found.set(passageKey(id), (found.get(passageKey(id)) ?? 0) + bonus);
  }
  return found;
};
