import type { Db } from "../projection.ts";
import { byPlace, findCandidates, keyOf, type Candidates } from "./candidates.ts";
import type { FoundPassage, SearchEngine, Within } from "./engine.ts";
import type { Hit } from "./groups.ts";
import { livingOf, type Living } from "./live.ts";
import { score } from "./rank.ts";
import type { Question } from "./terms.ts";

/** So many of the weightiest passages are read and ranked; behind them the order is by weight. */
const RANKED = 200;
/** What is asked for of each term; later pages, and dead passages before the living, ask for more. */
const LEAST_PER_TERM = 200;
const WIDER = 4;
/** From here on it is asked first whether there is as much at all. */
const DEEP = 1_000;

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
  const { candidates, living, missed } = await findLiving(where, question, { from, to });
  const first = from < RANKED ? living.slice(0, RANKED) : [];
  const rest = living.slice(Math.max(RANKED, from), to);
  const passages = await fetchAll(where, [...first, ...rest]);
  const ranked = rank(withText(first, passages), candidates, question).slice(from, to);
  const hits = [...ranked, ...trailing(withText(rest, passages), ranked.at(-1)?.score ?? 1)];
  return { hits, steady: !missed && passages.size === first.length + rest.length };
};

/** Asks for more until there are enough that may be shown, or no more. */
const findLiving = async (where: Where, question: Question, { from, to }: Span) => {
  const find = async (perTerm: number) => {
    const candidates = await findCandidates(where, question, perTerm);
    const lives = await livingOf(where.db, where.within, candidates.passages, Math.max(to, RANKED));
    return { candidates, ...lives };
  };
  let perTerm = Math.max(Math.min(to, DEEP), LEAST_PER_TERM);
  let found = await find(perTerm);
  while (found.living.length < to && found.candidates.more && found.candidates.most > from) {
    perTerm = Math.max(perTerm * WIDER, to);
    found = await find(perTerm);
  }
  return found;
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

const rank = (read: Read[], { terms, phrases }: Candidates, { stemOf }: Question): Hit[] => {
  const scores = score(
    read.map(({ key, passage }) => ({ ...passage, key })),
    terms,
    stemOf,
  );
  return read
    .map(({ key, passage, document }, n) => ({ passage, document, score: scores[n]! + (phrases.get(key) ?? 0) }))
    .toSorted((a, b) => b.score - a.score || byPlace(a.passage, b.passage));
};

/** What is not ranked comes behind what is: its scores are below. */
const trailing = (read: Read[], below: number): Hit[] =>
  read.map(({ passage, document, weight }) => ({
    passage,
    document,
    score: (below * weight) / Math.max(weight, read[0]!.weight),
  }));
