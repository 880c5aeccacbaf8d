import type { Language } from "./languages.ts";
import { findNumbers, indexNumbers, NUMBER, type FoundNumber, type NumberIndex } from "./numbers.ts";
import { foldText, joinWords, splitWord, splitWords, UNSPACED_SCRIPTS } from "./terms.ts";

/** The comparable content of a sentence. */
export interface AnswerClaim {
  /** The stems of its meaningful words, without duplicates. */
  stems: Set<string>;
  /** Without duplicates. */
  numbers: FoundNumber[];
  /** Its literal quotes. */
  quotes: string[];
}

/** What a passage, or a part of it, can support. */
export interface ClaimSource {
  stems: Set<string>;
  numbers: NumberIndex;
  /** Its folded words. */
  words: string;
}

export interface Comparison {
  /** The share of the words that the source contains. */
  support: number;
  missing: string[];
  quotes: string[];
}

/** Invisible characters that programs insert into words. */
const INVISIBLE = /[\u00ad\u200b\u2060\ufeff]/g;
const QUOTED = /"([^"]+)"|“([^“”]+)”|„([^„“”]+)[“”]|«([^«»]+)»|»([^«»]+)«|「([^「」]+)」|『([^『』]+)』/g;
/** Marks of changes and omissions in a quote: `[e]mployees`, `[…]`. */
const CHANGED_LETTERS = /\[(\p{L}+)\](?=\p{L})/gu;
const OMISSION = /\[[^[\]]*\]|…|\.{3}/;
/** Shorter quotes are names or titles. In scripts without spaces, characters are counted. */
const [MIN_QUOTED_WORDS, MIN_QUOTED_CHARACTERS] = [6, 12];

/** Without vowel signs and prefixed particles, and with one form of each letter: `والعقد` is `عقد`. */
const lightArabic = (word: string): string =>
  word
    .replace(/[\u064b-\u0652\u0670\u0640]/g, "")
    .replace(/[أإآ]/g, "ا")
    .replace(/ى$/, "ي")
    .replace(/ة$/, "ه")
    .replace(/^(?:و?(?:ال|بال|كال|فال)|و?لل)(?=\p{L}{2})/u, "");

const stemsOf = (text: string, language: Language): Set<string> => {
  const words = splitWords(text.replace(INVISIBLE, "").replace(NUMBER, " "));
  const meaningful = words.filter((word) => !language.stopWords.has(word)).flatMap(splitWord);
  return new Set(meaningful.map((word) => lightArabic(foldText(language.stem(word)))));
};

const isLong = (quote: string): boolean =>
  UNSPACED_SCRIPTS.test(quote) ? quote.length >= MIN_QUOTED_CHARACTERS : splitWords(quote).length >= MIN_QUOTED_WORDS;

const quotesIn = (text: string): string[] =>
  [...text.matchAll(QUOTED)]
    .flatMap(([, ...groups]) => groups.find((group) => group !== undefined) ?? [])
    .filter(isLong);

/** What a sentence of an answer claims: its words, numbers and quotes. */
export const toAnswerClaim = (sentence: string, language: Language): AnswerClaim => {
  const text = sentence.replace(CHANGED_LETTERS, "$1");
  return {
    stems: stemsOf(text, language),
    numbers: [...new Map(findNumbers(text).map((number) => [number.text, number])).values()],
    quotes: quotesIn(text),
  };
};

export const toClaimSource = (text: string, language: Language): ClaimSource => ({
  stems: stemsOf(text, language),
  numbers: indexNumbers(text),
  words: joinWords(text.replace(INVISIBLE, "")),
});

/** Several sources as one. */
export const combineSources = (sources: readonly ClaimSource[]): ClaimSource => ({
  stems: new Set(sources.flatMap(({ stems }) => [...stems])),
  numbers: { has: (number) => sources.some(({ numbers }) => numbers.has(number)) },
  words: sources.map(({ words }) => words).join(" "),
});

/** The words of scripts without spaces are parted by their context, so they are looked for in the text. */
const countShared = (claimed: ReadonlySet<string>, { stems, words }: ClaimSource): number => {
  let count = 0;
  for (const stem of claimed) if (stems.has(stem) || (UNSPACED_SCRIPTS.test(stem) && words.includes(stem))) count += 1;
  return count;
};

const hasQuote = ({ words }: ClaimSource, quote: string): boolean =>
  quote
    .split(OMISSION)
    .map(joinWords)
    .every((part) => part === "" || ` ${words} `.includes(UNSPACED_SCRIPTS.test(part) ? part : ` ${part} `));

export const compareWithSource = (claim: AnswerClaim, source: ClaimSource): Comparison => ({
  support: claim.stems.size === 0 ? 1 : countShared(claim.stems, source) / claim.stems.size,
  missing: claim.numbers.filter((number) => !source.numbers.has(number)).map(({ text }) => text),
  quotes: claim.quotes.filter((quote) => !hasQuote(source, quote)),
});

/** What a source has in common with a claim; numbers say more than words. */
export const countOverlap = (claim: AnswerClaim, source: ClaimSource): number =>
  countShared(claim.stems, source) + 2 * claim.numbers.filter((number) => source.numbers.has(number)).length;
