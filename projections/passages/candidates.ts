import { setImmediate } from "node:timers/promises";
import type { EngineQuery, PassageId, SearchEngine, SearchScope } from "./engine.ts";
import { inverseDocumentFrequency, type WeightedTerm } from "./rank.ts";
import { serverOperators, type Operators } from "./operators.ts";
import type { Question } from "./terms.ts";

/** Passages of the query with all terms, which finds what queries of single terms miss. */
const COMBINED_LIMIT = 50;
/** Maximum BM25 score of a word, in units of its idf. Passages with a quoted phrase get it as a bonus, to rank first. */
const MAX_WORD_SCORE = 2.2;
/** The rank in a term's list at which the term counts half. */
const HALF_WEIGHT_RANK = 400;

export interface Candidate extends PassageId {
  key: string;
  /** Sum of the idf of the terms that found it, each reduced by the passage's rank in the term's list. */
  weight: number;
}

export interface Candidates {
  /** By descending weight, then by document and position. */
  passages: Candidate[];
  terms: WeightedTerm[];
  /** By passage key: the bonus of passages with the words of a quoted phrase in one field. */
  phrases: Map<string, number>;
  /** Whether the search server has more matches than were requested. */
  more: boolean;
  /** Upper bound of the number of matches. */
  most: number;
}

export const passageKey = ({ document_id, generation, seq }: PassageId): string =>
  `${document_id} ${generation} ${seq}`;
export function compareByPlace(a: PassageId, b: PassageId): number {
  if (a.document_id === b.document_id) return a.seq - b.seq;
  return a.document_id < b.document_id ? -1 : 1;
}

/**
 * Finds passages with any of the terms. One query for the whole question would find little: every word must match, only ten words
 * count, and an unknown word finds nothing. So each term is a query, and one more query combines all terms.
 */
export const findCandidates = async (
  { engine, index, within }: { engine: SearchEngine; index: string; within: SearchScope },
  { terms, phrases }: Question,
  limit: number,
  operators?: Operators,
): Promise<Candidates> => {
  // the server treats the last word as a prefix, so operators come first
  const first = operators ? `${serverOperators(operators)} ` : "";
  const all = (words: string, most = limit): EngineQuery => ({ words: first + words, matching: "all", limit: most });
  const [everything, ...answers] = await engine.search(index, within, [
    all("", 0),
    ...terms.map(({ prefix }) => all(prefix)),
    ...phrases.map((phrase) => all(`"${phrase}"`)),
    { words: first + terms.map(({ prefix }) => prefix).join(" "), matching: "rarest", limit: COMBINED_LIMIT },
  ]);
  const weighted: WeightedTerm[] = [];
  const [found, bonuses] = [new Map<string, Candidate>(), new Map<string, number>()];
  for (const [n, term] of terms.entries()) {
    const idf = inverseDocumentFrequency(answers[n]!.total, everything!.total);
    const ranks = await addList(found, answers[n]!.ids, (weight, rank) => weight + weightAtRank(idf, rank));
    weighted.push({ ...term, idf, found: ranks });
  }
  for (const [n, phrase] of phrases.entries()) {
    const bonus = phraseBonus(phrase, weighted);
    const ranks = await addList(found, answers[terms.length + n]!.ids, (weight) => weight + bonus);
    for (const key of ranks.keys()) bonuses.set(key, (bonuses.get(key) ?? 0) + bonus);
  }
  // if all terms are frequent, only this list has the passages with all of them, so it counts as half of all terms
  const half = weighted.reduce((sum, { idf }) => sum + idf, 0) / 2;
  await addList(found, answers.at(-1)!.ids, (weight, rank) => Math.max(weight, weightAtRank(half, rank)));
  await setImmediate();
  return {
    passages: [...found.values()].toSorted((a, b) => b.weight - a.weight || compareByPlace(a, b)),
    terms: weighted,
    phrases: bonuses,
    more: answers.slice(0, -1).some(({ ids, total }) => ids.length < total),
    most: answers.reduce((sum, { total }) => sum + total, 0),
  };
};

/** Adds the passages of a list, or raises the weights of known ones. Returns the ranks in the list by key. */
const addList = async (
  found: Map<string, Candidate>,
  ids: PassageId[],
  weigh: (weight: number, rank: number) => number,
): Promise<Map<string, number>> => {
  // lets other work run: the lists of a long question have 23,000 passages
  await setImmediate();
  const ranks = new Map<string, number>();
  for (const [rank, id] of ids.entries()) {
    const key = passageKey(id);
    const candidate = found.get(key) ?? { ...id, key, weight: 0 };
    candidate.weight = weigh(candidate.weight, rank);
    found.set(key, candidate);
    ranks.set(key, rank);
  }
  return ranks;
};

/** The part of a term's weight that a passage at this rank gets. */
export const weightAtRank = (weight: number, rank: number | undefined): number =>
  rank === undefined ? 0 : weight / (1 + rank / HALF_WEIGHT_RANK);

const phraseBonus = (phrase: string, terms: WeightedTerm[]): number => {
  const words = terms.filter(({ prefix }) => phrase.includes(prefix));
  return MAX_WORD_SCORE * words.reduce((sum, { idf }) => sum + idf, 0);
};
