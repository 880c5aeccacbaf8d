import type { Db } from "../projection.ts";
import { behind } from "./behind.ts";
import { byPlace, findCandidates, keyOf, type Candidate, type Candidates } from "./candidates.ts";
import type { FoundPassage, SearchEngine, Within } from "./engine.ts";
import type { Hit } from "./groups.ts";
import { livingOf, type Living } from "./live.ts";
import { sayingOneOf, score } from "./rank.ts";
import type { Question } from "./terms.ts";

/** So many of the weightiest passages are read and ranked; behind them the order is by weight. */
const RANKED = 200;
/** What is asked for of each term at first; dead passages before the living ask for more. */
const NARROWEST = 200;
const WIDER = 5;

export interface Where {
  db: Db;
  engine: SearchEngine;
  index: string;
  within: Within;
}
interface Span {
  from: number;
  to: number;
}

/** The hits from one place to another, and whether nothing changed while they were looked for. */
export const look = async (
  where: Where,
  question: Question,
  { from, to }: Span,
): Promise<{ hits: Hit[]; steady: boolean }> => {
  const { candidates, living, steady } = await findLiving(where, question, { from, to });
  const first = from < RANKED ? living.slice(0, RANKED) : [];
  const rest = living.slice(Math.max(RANKED, from), to);
  const passages = await fetchAll(where, [...first, ...rest]);
  const ranked = rank(withText(first, passages), candidates, question).slice(from, to);
  const hits = [...ranked, ...trailing(withText(rest, passages), ranked.at(-1)?.score ?? 1)];
  return { hits, steady: steady && passages.size === first.length + rest.length };
};

/**
 * Asks wider until there are enough to be ranked that may be shown, or no more. Behind these the passages are taken term
 * by term: asking wider for all of twenty frequent terms took seconds for what one of their lists has.
 */
const findLiving = async (where: Where, question: Question, { from, to }: Span) => {
  const [seen, missed] = [new Set<string>(), new Set<string>()];
  const livingAmong = async (some: Candidate[], atLeast: number): Promise<Living[]> => {
    const found = await livingOf(where.db, where.within, some, atLeast);
    for (const id of found.seen) seen.add(id);
    for (const id of found.missed) missed.add(id);
    return found.living;
  };
  let [perTerm, candidates, living] = [NARROWEST, undefined as Candidates | undefined, [] as Living[]];
  for (; !candidates || (candidates.more && living.length < RANKED); perTerm *= WIDER) {
    candidates = await findCandidates(where, question, perTerm);
    living = await livingAmong(candidates.passages, candidates.more ? RANKED : Math.max(to, RANKED));
  }
  if (candidates.more && to > RANKED && candidates.most > from) {
    living = living.slice(0, RANKED);
    for await (const some of behind(where, question, candidates.terms, living)) {
      for (const one of await livingAmong(some, to - living.length)) living.push(one);
      if (living.length >= to) break;
    }
  }
  return { candidates, living, steady: missed.isSubsetOf(seen) };
};

const fetchAll = async ({ engine, index, within }: Where, living: Living[]): Promise<Map<string, FoundPassage>> => {
  const found = await engine.fetch(index, within, living);
  return new Map(found.map((passage) => [keyOf(passage), passage]));
};

type Read = Living & { passage: FoundPassage };
const withText = (living: Living[], passages: Map<string, FoundPassage>): Read[] =>
  living.flatMap((one) => {
    const passage = passages.get(one.key);
    return passage ? [{ ...one, passage }] : [];
  });

const rank = (read: Read[], { terms, phrases }: Candidates, question: Question): Hit[] => {
  const says = sayingOneOf(question.phrases);
  const quoted = ({ key, passage }: Read): number => (says(passage) ? (phrases.get(key) ?? 0) : 0);
  const scores = score(
    read.map(({ key, passage }) => ({ ...passage, key })),
    terms,
    question.stemOf,
  );
  return read
    .map((one, n) => ({ passage: one.passage, document: one.document, score: scores[n]! + quoted(one) }))
    .toSorted((a, b) => b.score - a.score || byPlace(a.passage, b.passage));
};

/** What is not ranked comes behind what is: its scores are below, and fall. */
const trailing = (read: Read[], below: number): Hit[] => {
  const most = read.reduce((heaviest, { weight }) => Math.max(heaviest, weight), 0);
  let last = below;
  return read.map(({ passage, document, weight }) => {
    last = Math.min(last, (below * weight) / most);
    return { passage, document, score: last };
  });
};
