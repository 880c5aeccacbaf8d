import { setImmediate } from "node:timers/promises";
import type { Db } from "../projection.ts";
import { remainingCandidates } from "./remainingCandidates.ts";
import { compareByPlace, findCandidates, passageKey, type Candidate, type Candidates } from "./candidates.ts";
import type { FoundPassage, SearchEngine, SearchScope } from "./engine.ts";
import type { Hit } from "./groupHits.ts";
import { selectLive, type LiveCandidate } from "./liveCandidates.ts";
import { createOperatorTest, type Operators } from "./operators.ts";
import { createPhraseTest, possibleScore, scorePassages } from "./rank.ts";
import type { Question } from "./terms.ts";

/** Number of the heaviest passages that are read and ranked. Further ones are ordered by weight. */
const MAX_RANKED = 200;
/**
 * Passages requested per term: at first, and once more if too few of them are live. More of them, for twenty terms at once, would be a
 * hundred megabytes for a large organization.
 */
const LIMITS = [200, 1_000];
/** Batches of further passages that a search reads, each in about 10 ms: it may filter by something that the index cannot. */
const MAX_BATCHES = 200;

export interface SearchContext {
  db: Db;
  engine: SearchEngine;
  index: string;
  within: SearchScope;
}
export interface FoundHits {
  hits: Hit[];
  /** Whether no document changed during the search. */
  isStable: boolean;
  /** The score of a passage with as many occurrences of all query words as possible. */
  possible: number;
  /** Whether there may be more hits although the page is not full. */
  more?: boolean;
  /** Whether passages were not compared with the query's operators or filter, so that matches among them are never shown. */
  isCut?: boolean;
}

export interface ResultRange {
  from: number;
  to: number;
}

/** Maximum passages that a search with operators reads and compares. */
export const MAX_COMPARED_PASSAGES = 1_000;

/** The hits on a page of a search with operators. The search server only compares words, so the texts are checked. */
export const findExactHits = async (
  context: SearchContext & { operators: Operators },
  question: Question,
  { from, to }: ResultRange,
): Promise<FoundHits> => {
  const candidates = await findCandidates(context, question, MAX_COMPARED_PASSAGES, context.operators);
  const { live, seen, missed } = await selectLive(
    context.db,
    context.within,
    candidates.passages,
    MAX_COMPARED_PASSAGES,
  );
  const some = live.slice(0, MAX_COMPARED_PASSAGES);
  const passages = await fetchAll(context, some);
  const fitting = await filterInTurns(withText(some, passages), createOperatorTest(context.operators));
  const hits = rankFirst(fitting, candidates, question).slice(from, to);
  const isStable = missed.isSubsetOf(seen) && passages.size === some.length;
  const isCut =
    candidates.more || (live.length >= MAX_COMPARED_PASSAGES && candidates.passages.length > MAX_COMPARED_PASSAGES);
  return { hits, isStable, possible: possibleScore(candidates.terms), isCut };
};

/** The hits of a page. */
export const findHits = async (
  context: SearchContext,
  question: Question,
  { from, to }: ResultRange,
): Promise<FoundHits> => {
  const readTexts = createTextReader(context);
  const readAhead = async ({ passages }: Candidates): Promise<void> => {
    if (from < MAX_RANKED) await readTexts(passages.slice(0, MAX_RANKED));
  };
  const { candidates, live, isStable, isCut } = await findLive(context, question, { from, to }, readAhead);
  const first = from < MAX_RANKED ? live.slice(0, MAX_RANKED) : [];
  const rest = live.slice(Math.max(MAX_RANKED, from), to);
  const passages = await readTexts([...first, ...rest]);
  const ranked = rank(withText(first, passages), candidates, question).slice(from, to);
  const hits = [...ranked, ...scoreUnranked(withText(rest, passages), ranked.at(-1)?.score ?? 1)];
  const wasStable = isStable && [...first, ...rest].every(({ key }) => passages.has(key));
  return { hits, isStable: wasStable, possible: possibleScore(candidates.terms), isCut };
};

/**
 * Requests more per term until there are enough live passages to rank, or no more. Further passages are read term by term: widening
 * the requests for all of twenty frequent terms took seconds to find what one term's list has.
 */
const findLive = async (
  context: SearchContext,
  question: Question,
  { from, to }: ResultRange,
  readAhead: (candidates: Candidates) => Promise<void>,
) => {
  const [seen, missed] = [new Set<string>(), new Set<string>()];
  const select = async (some: Candidate[], atLeast: number): Promise<LiveCandidate[]> => {
    const found = await selectLive(context.db, context.within, some, atLeast);
    for (const id of found.seen) seen.add(id);
    for (const id of found.missed) missed.add(id);
    return found.live;
  };
  let [candidates, live] = [undefined as Candidates | undefined, [] as LiveCandidate[]];
  for (const limit of LIMITS) {
    candidates = await findCandidates(context, question, limit);
    const atLeast = candidates.more ? MAX_RANKED : Math.max(to, MAX_RANKED);
    [live] = await Promise.all([select(candidates.passages, atLeast), readAhead(candidates)]);
    if (!candidates.more || live.length >= MAX_RANKED) break;
  }
  const { more, most, terms } = candidates!;
  const wanted = Math.max(to, MAX_RANKED);
  // further ones, by weight, would be in another order than those that later pages read term by term
  if (more) live = live.slice(0, MAX_RANKED);
  let batches = 0;
  if (more && live.length < wanted && most > from) {
    for await (const some of remainingCandidates(context, question, terms, live)) {
      for (const one of await select(some, wanted - live.length)) live.push(one);
      if (live.length >= wanted || ++batches === MAX_BATCHES) break;
    }
  }
  return { candidates: candidates!, live, isStable: missed.isSubsetOf(seen), isCut: batches === MAX_BATCHES };
};

const fetchAll = async (
  { engine, index, within }: SearchContext,
  some: Candidate[],
): Promise<Map<string, FoundPassage>> => {
  const found = await engine.fetch(index, within, some);
  return new Map(found.map((passage) => [passageKey(passage), passage]));
};

/** Reads each text once, while the database checks which candidates are live, because nearly all are. */
const createTextReader = (context: SearchContext) => {
  const known = new Map<string, FoundPassage>();
  return async (some: Candidate[]): Promise<Map<string, FoundPassage>> => {
    const unknown = some.filter(({ key }) => !known.has(key));
    for (const [key, passage] of await fetchAll(context, unknown)) known.set(key, passage);
    return known;
  };
};

/** Existing candidates, in their order and without a score. */
export const readHits = async (context: SearchContext, live: LiveCandidate[]): Promise<Hit[]> =>
  withText(live, await fetchAll(context, live)).map(({ passage, document }) => ({ passage, document, score: 0 }));

type CandidateWithText = LiveCandidate & { passage: FoundPassage };
const withText = (live: LiveCandidate[], passages: Map<string, FoundPassage>): CandidateWithText[] =>
  live.flatMap((one) => {
    const passage = passages.get(one.key);
    return passage ? [{ ...one, passage }] : [];
  });

const rank = (candidates: CandidateWithText[], { terms, phrases }: Candidates, question: Question): Hit[] => {
  const hasPhrase = createPhraseTest(question.phrases);
  const bonus = ({ key, passage }: CandidateWithText) => (hasPhrase(passage) ? (phrases.get(key) ?? 0) : 0);
  const scores = scorePassages(
    candidates.map(({ key, passage }) => ({ ...passage, key })),
    terms,
    question.stemOf,
  );
  return candidates
    .map((one, n) => ({ passage: one.passage, document: one.document, score: scores[n]! + bonus(one) }))
    .toSorted((a, b) => b.score - a.score || compareByPlace(a.passage, b.passage));
};

/** Ranks the heaviest candidates; the others follow by weight. */
function rankFirst(candidates: CandidateWithText[], found: Candidates, question: Question): Hit[] {
  const ranked = rank(candidates.slice(0, MAX_RANKED), found, question);
  return [...ranked, ...scoreUnranked(candidates.slice(MAX_RANKED), ranked.at(-1)?.score ?? 1)];
}

/** Passages compared with operators before other work may run: 10 take about 1 ms. */
const COMPARED_AT_ONCE = 10;

export async function filterInTurns<T extends { passage: FoundPassage }>(
  candidates: T[],
  fits: (passage: FoundPassage) => boolean,
): Promise<T[]> {
  const fitting: T[] = [];
  for (let at = 0; at < candidates.length; at += COMPARED_AT_ONCE) {
    await setImmediate();
    for (const one of candidates.slice(at, at + COMPARED_AT_ONCE)) if (fits(one.passage)) fitting.push(one);
  }
  return fitting;
}

/** Scores unranked hits after the ranked ones, descending from `below`. */
const scoreUnranked = (candidates: CandidateWithText[], below: number): Hit[] => {
  const heaviest = candidates.reduce((most, { weight }) => Math.max(most, weight), 0);
  let last = below;
  return candidates.map(({ passage, document, weight }) => {
    last = Math.min(last, (below * weight) / heaviest);
    return { passage, document, score: last };
  });
};
