import { setImmediate } from "node:timers/promises";
import { detectLanguage, type Language } from "./languages.ts";
import { fold, splitWord, splitWords } from "./terms.ts";

/* Compares the sentences of an answer with the passages that they cite, by words and numbers, without a model. */

/** Share of a sentence's words that its passage has to contain. */
const MIN_SUPPORT = 0.6;
/** Words and numbers of a sentence that claims something. */
const MIN_CLAIM = 2;

/** Half open, in UTF-16 units. */
export interface Span {
  start: number;
  end: number;
}

export interface CitedPassage {
  text: string;
  /** The part of the answer that cites it; undefined: all of it. */
  cited?: Span;
}

export interface CheckedSentence extends Span {
  text: string;
  verdict: "supported" | "unsupported" | "no_claim";
  /** Share of its words that the passage contains. */
  support: number;
  /** As the sentence writes them. */
  missing_numbers: string[];
  /** Index of the passage that supports it best, and the place in its text; null without words in common. */
  source: (Span & { passage: number }) | null;
}

const segmenter = new Intl.Segmenter("en", { granularity: "sentence" });
const NUMBER = /\d+(?:[.,'’\u00a0\u202f]\d+)*/g;
/** Marks of citations, targets of links and numbers of list items: not part of what a sentence says. */
const MARKS = /\[\d{1,3}(?:, ?\d{1,3})*\]|【[^】]*】|(?<=\])\([^()\s]*\)|^[ \t]*(?:[-*+]|\d{1,3}[.)])[ \t]/gm;

/** A number without grouping and without zeros at the end: `1,234.50` is `1234.5`. */
const canonical = (number: string): string => {
  const parts = number.split(/[^\d]/);
  const grouped = parts.length > 1 && parts.slice(1).every((part) => part.length === 3);
  if (grouped || parts.length === 1) return parts.join("").replace(/^0+(?=\d)/, "");
  const decimals = parts.pop()!.replace(/0+$/, "");
  return parts.join("").replace(/^0+(?=\d)/, "") + (decimals === "" ? "" : `.${decimals}`);
};

const numbersIn = (text: string): string[] => text.match(NUMBER) ?? [];

/** Lines, and the sentences in them. */
function* sentencesOf(text: string): Generator<Span> {
  for (const line of text.matchAll(/[^\n]+/g)) {
    for (const { segment, index } of segmenter.segment(line[0])) {
      const start = line.index + index + (segment.length - segment.trimStart().length);
      const length = segment.trim().length;
      if (length > 0) yield { start, end: start + length };
    }
  }
}

/** The stems of the words that carry meaning, each once. */
const stemsOf = (text: string, language: Language): Set<string> => {
  const words = splitWords(text.replace(NUMBER, " "));
  const meaningful = words.filter((word) => !language.stopWords.has(word)).flatMap(splitWord);
  return new Set(meaningful.map((word) => fold(language.stem(word))));
};

interface Claim {
  stems: Set<string>;
  numbers: string[];
}

interface Source {
  stems: Set<string>;
  numbers: Set<string>;
}

/** A sentence or line of a passage. */
type Piece = Span & Source;

const toPieces = (text: string, language: Language): Piece[] =>
  [...sentencesOf(text)].map((span) => ({ ...span, ...toSource(text.slice(span.start, span.end), language) }));

const toSource = (text: string, language: Language): Source => ({
  stems: stemsOf(text, language),
  numbers: new Set(numbersIn(text).map(canonical)),
});

interface Comparison {
  support: number;
  missing: string[];
}

const compare = ({ stems, numbers }: Claim, source: Source): Comparison => ({
  support: stems.size === 0 ? 1 : stems.intersection(source.stems).size / stems.size,
  missing: numbers.filter((number) => !source.numbers.has(canonical(number))),
});

const isSupported = ({ support, missing }: Comparison): boolean => missing.length === 0 && support >= MIN_SUPPORT;

/** What a text has in common with a claim; numbers say more than words. */
const weightOf = ({ stems, numbers }: Claim, source: Source): number =>
  stems.intersection(source.stems).size + 2 * numbers.filter((number) => source.numbers.has(canonical(number))).length;

/** The sentences of a passage that have most in common with the claim: the best one, with its neighbours where they add to it. */
function findPlace(pieces: readonly Piece[], claim: Claim): Span | null {
  const weigh = (from: number, to: number): number => {
    const some = pieces.slice(from, to + 1);
    const stems = new Set(some.flatMap((piece) => [...piece.stems]));
    return weightOf(claim, { stems, numbers: new Set(some.flatMap((piece) => [...piece.numbers])) });
  };
  const weights = pieces.map((piece) => weightOf(claim, piece));
  const best = weights.indexOf(Math.max(...weights));
  if (best === -1 || weights[best] === 0) return null;
  let [from, to] = [best, best];
  if (from > 0 && weigh(from - 1, to) > weigh(from, to)) from -= 1;
  if (to + 1 < pieces.length && weigh(from, to + 1) > weigh(from, to)) to += 1;
  return { start: pieces[from]!.start, end: pieces[to]!.end };
}

const overlaps = (one: Span, other: Span | undefined): boolean =>
  other === undefined || (one.start < other.end && other.start < one.end);

/** Sentences that are checked before other work may run. */
const BATCH_SIZE = 50;

interface Prepared extends Source {
  pieces: Piece[];
  cited: Span | undefined;
}

function prepare({ text, cited }: CitedPassage, language: Language): Prepared {
  const pieces = toPieces(text, language);
  return {
    pieces,
    cited,
    stems: new Set(pieces.flatMap(({ stems }) => [...stems])),
    numbers: new Set(pieces.flatMap(({ numbers }) => [...numbers])),
  };
}

type Finding = Pick<CheckedSentence, "verdict" | "support" | "missing_numbers" | "source">;

/** Compares a claim with the passages that are cited where it stands. */
function judge(claim: Claim, span: Span, passages: readonly Prepared[]): Finding {
  if (claim.stems.size + claim.numbers.length < MIN_CLAIM)
    return { verdict: "no_claim", support: 0, missing_numbers: [], source: null };
  const compared = passages.flatMap((one, passage) =>
    overlaps(span, one.cited) ? [{ passage, ...compare(claim, one) }] : [],
  );
  const best = compared.toSorted((a, b) => a.missing.length - b.missing.length || b.support - a.support)[0];
  if (!best) return { verdict: "unsupported", support: 0, missing_numbers: claim.numbers, source: null };
  const place = findPlace(passages[best.passage]!.pieces, claim);
  return {
    verdict: isSupported(best) ? "supported" : "unsupported",
    support: best.support,
    missing_numbers: best.missing,
    source: place && { passage: best.passage, ...place },
  };
}

/** Checks each sentence of an answer against the passages that it cites. Other work may run in between. */
export async function checkAnswer(answer: string, passages: readonly CitedPassage[]): Promise<CheckedSentence[]> {
  const said = answer.replace(MARKS, (mark) => " ".repeat(mark.length));
  const language = detectLanguage(splitWords(said));
  const prepared: Prepared[] = [];
  for (const passage of passages) {
    prepared.push(prepare(passage, language));
    await setImmediate();
  }
  const checked: CheckedSentence[] = [];
  for (const span of sentencesOf(said)) {
    const words = said.slice(span.start, span.end);
    const claim = { stems: stemsOf(words, language), numbers: [...new Set(numbersIn(words))] };
    const text = answer.slice(span.start, span.end);
    if (checked.push({ text, ...span, ...judge(claim, span, prepared) }) % BATCH_SIZE === 0) await setImmediate();
  }
  return checked;
}
