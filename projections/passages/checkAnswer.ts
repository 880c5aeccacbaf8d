import { setImmediate } from "node:timers/promises";
import {
  toAnswerClaim,
  combineSources,
  compareWithSource,
  toClaimSource,
  countOverlap,
  type AnswerClaim,
  type Comparison,
  type ClaimSource,
} from "./answerClaims.ts";
import { detectLanguage, type Language } from "./languages.ts";
import { sentencesOf, type Span } from "./sentences.ts";
import { splitWords } from "./terms.ts";

/* Compares the sentences of an answer with the passages they cite, by words, numbers and quotes, without a model. */

/** Minimum share of a sentence's words that its passage must contain. */
const MIN_SUPPORT = 0.6;
/** Minimum words and numbers of a sentence that counts as a claim. */
const MIN_CLAIM = 2;
/** Maximum passages, cited for the same part of an answer, that may support it together. */
const MAX_TOGETHER = 5;

export interface CitedPassage {
  text: string;
  /** The header of the table whose rows the text continues. It supports claims about them, but a source never points into it. */
  header?: string | undefined;
  /** The part of the answer that cites it; undefined: all of it. */
  cited?: Span;
}

export interface CheckedSentence extends Span {
  text: string;
  verdict: "supported" | "unsupported" | "no_claim";
  /** Share of its words that the passage contains. */
  support: number;
  /** As written in the sentence. */
  missing_numbers: string[];
  missing_quotes: string[];
  /** The best supporting passage (its index), and the place in its text; null if they have no words in common. */
  source: (Span & { passage: number }) | null;
}

/** Parts of an answer that make no claims: citation marks, link targets, URLs and list numbers. */
const MARKS =
  /\[\^?\d{1,3}(?:[ \u00a0]?[,;–-][ \u00a0]?\^?\d{1,3})*\]|【\d+(?::\d+)?(?:†[^】\n]{0,200})?】|<sup>[\d,;\s]{1,20}<\/sup>|(?<=\])\([^()\s]*(?:\s+"[^"\n]{0,200}")?\)|https?:\/\/[^\s)\]]+|^[ \t>]*(?:[-*+•‣◦–—]|\(?(?:\d{1,3}|[a-z]|[ivx]{1,4})[.)])[ \t]/gm;

/** A sentence or line of a passage. */
type Piece = Span & ClaimSource;

interface PreparedPassage extends ClaimSource {
  pieces: Piece[];
  cited: Span | undefined;
}

function prepare({ text, header, cited }: CitedPassage, language: Language): PreparedPassage {
  const pieces = [...sentencesOf(text)].map(({ start, end }) => ({
    start,
    end,
    ...toClaimSource(text.slice(start, end), language),
  }));
  const whole = header === undefined ? text : `${header}\n${text}`;
  return { ...toClaimSource(whole, language), pieces, cited };
}

const isSupported = ({ support, missing, quotes }: Comparison): boolean =>
  missing.length === 0 && quotes.length === 0 && support >= MIN_SUPPORT;

/** Words looked up before other work may run: a few milliseconds. */
const MAX_LOOKUPS = 2_000;

/** Counts look-ups, and lets other work run after many. */
type Meter = (lookups: number) => Promise<void>;

function openMeter(): Meter {
  let sum = 0;
  return async (lookups) => {
    sum += lookups;
    if (sum < MAX_LOOKUPS) return;
    sum = 0;
    await setImmediate();
  };
}

const sizeOf = ({ stems, numbers, quotes }: AnswerClaim): number => stems.size + 4 * numbers.length + quotes.length + 1;

/** The sentence of a passage with the most in common with the claim, and its neighbours if they add to it. */
async function findPlace(pieces: readonly Piece[], claim: AnswerClaim, meter: Meter): Promise<Span | null> {
  const weighRange = (from: number, to: number): number =>
    countOverlap(claim, combineSources(pieces.slice(from, to + 1)));
  const weights: number[] = [];
  for (const piece of pieces) {
    weights.push(countOverlap(claim, piece));
    await meter(sizeOf(claim));
  }
  const best = weights.indexOf(Math.max(...weights));
  if (best === -1 || weights[best] === 0) return null;
  let [from, to] = [best, best];
  if (from > 0 && weighRange(from - 1, to) > weighRange(from, to)) from -= 1;
  if (to + 1 < pieces.length && weighRange(from, to + 1) > weighRange(from, to)) to += 1;
  return { start: pieces[from]!.start, end: pieces[to]!.end };
}

const overlaps = (one: Span, other: Span | undefined): boolean =>
  other === undefined || (one.start < other.end && other.start < one.end);

interface PassageComparison extends Comparison {
  passage: number;
}

/** Tries all passages together if the best one lacks something. Not if one of them is cited for the whole answer. */
function compareTogether(
  claim: AnswerClaim,
  best: PassageComparison,
  {
    passages,
    compared,
    answer,
  }: { passages: readonly PreparedPassage[]; compared: readonly PassageComparison[]; answer: Span },
): PassageComparison {
  const cited = compared.map(({ passage }) => passages[passage]!);
  const isForAll = ({ cited: part }: PreparedPassage): boolean =>
    part === undefined || (part.start <= answer.start && part.end >= answer.end);
  if (isSupported(best) || cited.length < 2 || cited.length > MAX_TOGETHER || cited.some(isForAll)) return best;
  const together = compareWithSource(claim, combineSources(cited));
  return isSupported(together) ? { ...together, passage: best.passage } : best;
}

type Finding = Pick<CheckedSentence, "verdict" | "support" | "missing_numbers" | "missing_quotes" | "source">;

interface Evidence {
  passages: readonly PreparedPassage[];
  /** The whole answer. */
  answer: Span;
  meter: Meter;
}

/** Compares a claim with the passages cited at its place. */
async function judge(claim: AnswerClaim, around: Span, { passages, answer, meter }: Evidence): Promise<Finding> {
  const nothing = { support: 0, missing_numbers: [], missing_quotes: [], source: null };
  if (claim.stems.size + claim.numbers.length < MIN_CLAIM) return { verdict: "no_claim", ...nothing };
  const compared: PassageComparison[] = [];
  for (const [passage, one] of passages.entries()) {
    if (!overlaps(around, one.cited)) continue;
    compared.push({ passage, ...compareWithSource(claim, one) });
    await meter(sizeOf(claim));
  }
  const lacks = ({ missing, quotes }: Comparison): number => missing.length + quotes.length;
  const first = compared.toSorted((a, b) => lacks(a) - lacks(b) || b.support - a.support)[0];
  if (!first) {
    const missing_numbers = claim.numbers.map(({ text }) => text);
    return { verdict: "unsupported", ...nothing, missing_numbers, missing_quotes: claim.quotes };
  }
  const best = compareTogether(claim, first, { passages, compared, answer });
  const place = await findPlace(passages[best.passage]!.pieces, claim, meter);
  return {
    verdict: isSupported(best) ? "supported" : "unsupported",
    support: best.support,
    missing_numbers: best.missing,
    missing_quotes: best.quotes,
    source: place && { passage: best.passage, ...place },
  };
}

/** Checks each sentence of an answer against the passages it cites. Lets other work run in between. */
export async function checkAnswer(answer: string, passages: readonly CitedPassage[]): Promise<CheckedSentence[]> {
  const prose = answer.replace(MARKS, (mark) => " ".repeat(mark.length));
  const language = detectLanguage(splitWords(prose));
  const prepared: PreparedPassage[] = [];
  for (const passage of passages) {
    prepared.push(prepare(passage, language));
    await setImmediate();
  }
  const evidence: Evidence = { passages: prepared, answer: { start: 0, end: answer.length }, meter: openMeter() };
  const checked: CheckedSentence[] = [];
  for (const { start, end, around } of sentencesOf(prose)) {
    const claim = toAnswerClaim(prose.slice(start, end), language);
    const finding = await judge(claim, around, evidence);
    checked.push({ text: answer.slice(start, end), start, end, ...finding });
    await evidence.meter(sizeOf(claim));
  }
  return checked;
}
