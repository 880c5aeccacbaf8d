import { detectLanguage } from "./languages.ts";

/** Maximum characters read of a question. */
export const MAX_QUESTION_LENGTH = 10_000;
/** Maximum terms of a question, and words of a quoted phrase. */
const MAX_TERMS = 20;
const MAX_PHRASES = 3;

/** A word that is searched in all its forms. */
export interface Term {
  /** The common beginning of the word and its stem, with which the search server finds words. */
  prefix: string;
  /** The folded prefix. */
  start: string;
  stem: string;
}

export interface Question {
  terms: Term[];
  /** Phrases of several words in quotation marks. */
  phrases: string[];
  stemOf(foldedWord: string): string;
}

const segmenter = new Intl.Segmenter("en", { granularity: "word" });
const ACCENTS = /(?<=\p{Script=Latin})\p{M}+/gu;
const ASCII = /^[\0-\x7f]*$/;
export const WORD_PARTS = /[\p{L}\p{N}\p{M}]+|\p{Extended_Pictographic}/gu;
/** No quote contains its own opening mark: otherwise each of thousands of open quotes would be read to the end of the text. */
const QUOTED = /"([^"]+)"|“([^“”]+)”|„([^„“”]+)[“”]|«([^«»]+)»/g;
/** Scripts without spaces between words. */
export const UNSPACED_SCRIPTS =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
const ENCLITIC = 2;

/** Lower case, normalized, Latin letters without accents. й and が keep their marks, because they are letters of their own. */
export const foldText = (text: string): string => {
  const lower = text.toLowerCase();
  if (ASCII.test(lower)) return lower;
  return lower.normalize("NFKD").replace(ACCENTS, "").normalize("NFC").replaceAll("ß", "ss");
};

/** The folded words of a text, separated by single spaces, so that phrases are found by comparing texts. */
export const joinWords = (text: string): string => (foldText(text).match(WORD_PARTS) ?? []).join(" ");

/** Extracts the terms and phrases of a question. Ignores stop words unless there are no other words. */
export const readQuestion = (query: string): Question => {
  const text = query.slice(0, MAX_QUESTION_LENGTH).toWellFormed();
  const words = splitWords(text);
  const language = detectLanguage(words);
  const meaningful = words.filter((word) => !language.stopWords.has(word)).flatMap(splitWord);
  const stemOf = (word: string): string => foldText(language.stem(word));
  const terms = new Map<string, Term>();
  for (const word of meaningful.length > 0 ? meaningful : words.flatMap(splitWord)) {
    const stem = stemOf(word);
    if (!terms.has(stem)) terms.set(stem, { ...sharedBeginning(word, stem), stem });
    if (terms.size === MAX_TERMS) break;
  }
  const phrases = [...text.matchAll(QUOTED)].map(([, ...quoted]) => splitWord(quoted.join("").toLowerCase()));
  return {
    terms: [...terms.values()],
    phrases: phrases
      .filter((parts) => parts.length > 1)
      .slice(0, MAX_PHRASES)
      .map((parts) => parts.slice(0, MAX_TERMS).join(" ")),
    stemOf,
  };
};

export const splitWords = (text: string): string[] => {
  const words: string[] = [];
  for (const { segment, isWordLike } of segmenter.segment(text.toLowerCase()))
    if (isWordLike || /\p{Extended_Pictographic}/u.test(segment)) words.push(segment);
  return words;
};

/** Splits a word like the search server does: `node.js` is two words; `l'hôtel` is one word with an article, which is dropped. */
export const splitWord = (word: string): string[] => {
  const parts = word.match(WORD_PARTS) ?? [];
  const long = parts.filter((part) => part.length > ENCLITIC);
  return /['’]/.test(word) && long.length > 0 ? long : parts;
};

/** Minimum length of a common beginning. Shorter ones do not identify a word (`gehen`, `ging`), so the whole word is used. */
const MIN_BEGINNING = 3;

/** The beginning shared by all forms of a word, without final letters that change (`hike`, `hiking`; `policy`, `policies`). */
const sharedBeginning = (word: string, stem: string): Pick<Term, "prefix" | "start"> => {
  const folded = foldText(word);
  let shared = 0;
  while (shared < stem.length && isSameLetter(folded[shared], stem[shared])) shared++;
  const beginning = shared >= MIN_BEGINNING ? folded.slice(0, shared) : folded;
  const start = beginning.length > MIN_BEGINNING ? beginning.replace(/[eiy]$/, "") : beginning;
  // the search server treats ß as a separate letter
  return { start, prefix: word.includes("ß") ? word : start };
};

const isSameLetter = (a: string | undefined, b: string | undefined): boolean => a === b || (a === "y" && b === "i");
