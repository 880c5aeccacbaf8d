import { languageOf } from "./languages.ts";

/** More of a question is not read, and more of its words not looked for. */
const READ = 10_000;
const MOST_TERMS = 20;
/** Words of a quoted phrase that are looked for together. */
const MOST_PHRASES = 3;

/** A word that is looked for, whatever its ending. */
export interface Term {
  /** What the word and its stem begin with alike: the search server finds the words that begin so. */
  prefix: string;
  /** The same folded. */
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
const ACCENTS = /(?<=\p{Script=Latin}\p{M}*)\p{M}/gu;
const ASCII = /^[\0-\x7f]*$/;
const PARTS = /[\p{L}\p{N}\p{M}]+|\p{Extended_Pictographic}/gu;
const QUOTED = /"([^"]+)"|“([^”]+)”|„([^“”]+)[“”]|«([^»]+)»/g;
const ENCLITIC = 2;

/** In lower case and plain forms, Latin letters without their accents: й and が are letters of their own. */
export const fold = (text: string): string => {
  const lower = text.toLowerCase();
  if (ASCII.test(lower)) return lower;
  return lower.normalize("NFKD").replace(ACCENTS, "").normalize("NFC").replaceAll("ß", "ss");
};

/** What to look for: no stop words, unless there is nothing else; empty where the question has no words. */
export const readQuestion = (query: string): Question => {
  const text = query.slice(0, READ).toWellFormed();
  const words = wordsOf(text);
  const language = languageOf(words);
  const telling = words.filter((word) => !language.stopWords.has(word)).flatMap(partsOf);
  const stemOf = (word: string): string => fold(language.stem(word));
  const terms = new Map<string, Term>();
  for (const word of telling.length > 0 ? telling : words.flatMap(partsOf)) {
    const stem = stemOf(word);
    if (!terms.has(stem)) terms.set(stem, { ...beginning(word, stem), stem });
    if (terms.size === MOST_TERMS) break;
  }
  const phrases = [...text.matchAll(QUOTED)].map(([, ...quoted]) => partsOf(quoted.join("").toLowerCase()));
  return {
    terms: [...terms.values()],
    phrases: phrases
      .filter((parts) => parts.length > 1)
      .slice(0, MOST_PHRASES)
      .map((parts) => parts.slice(0, MOST_TERMS).join(" ")),
    stemOf,
  };
};

const wordsOf = (text: string): string[] => {
  const words: string[] = [];
  for (const { segment, isWordLike } of segmenter.segment(text.toLowerCase()))
    if (isWordLike || /\p{Extended_Pictographic}/u.test(segment)) words.push(segment);
  return words;
};

/** `node.js` is two words to the search server, `l'hôtel` is one with an article. */
const partsOf = (word: string): string[] => {
  const parts = word.match(PARTS) ?? [];
  const long = parts.filter((part) => part.length > ENCLITIC);
  return /['’]/.test(word) && long.length > 0 ? long : parts;
};

/** A stem shorter than this tells nothing of how words begin, nor does one that is spelled otherwise (`gehen`, `ging`). */
const SHORTEST = 3;

/** What all forms of a word begin with: not the letters at the end of a stem that change (`hike`, `hiking`; `policy`, `policies`). */
const beginning = (word: string, stem: string): Pick<Term, "prefix" | "start"> => {
  const folded = fold(word);
  let shared = 0;
  while (shared < stem.length && alike(folded[shared], stem[shared])) shared++;
  const begins = shared >= SHORTEST ? folded.slice(0, shared) : folded;
  const start = begins.length > SHORTEST ? begins.replace(/[eiy]$/, "") : begins;
  // the search server knows ß as a letter of its own
  return { start, prefix: word.includes("ß") ? word : start };
};

const alike = (a: string | undefined, b: string | undefined): boolean => a === b || (a === "y" && b === "i");
