import type { FoundPassage } from "./engine.ts";
import { foldText, joinWords, UNSPACED_SCRIPTS, type Question, type Term } from "./terms.ts";

const [K1, B] = [1.2, 0.5];
/**
 * Weights of an occurrence: in the title, in the lead, of a word that only shares the beginning, and of a term found with another
 * spelling. Measured with `npm run bench -- search`.
 */
const [TITLE, LEAD, SAME_BEGINNING, MISSPELLED] = [3, 0.5, 0.3, 0.3];

export interface WeightedTerm extends Term {
  /** Inverse document frequency: how rare the term is. */
  idf: number;
  /** By key: ranks of the passages that the search server found for the term. */
  found: Map<string, number>;
}

export const inverseDocumentFrequency = (matches: number, all: number): number =>
  Math.log(1 + (Math.max(all - matches, 0) + 0.5) / (matches + 0.5));

/** Upper bound of the sum of all terms' BM25 scores. */
export const possibleScore = (terms: WeightedTerm[]): number => terms.reduce((sum, { idf }) => sum + idf * (K1 + 1), 0);

/** The BM25 score of each passage, in the given order. */
export const scorePassages = (
  passages: (FoundPassage & { key: string })[],
  terms: WeightedTerm[],
  stemOf: Question["stemOf"],
): number[] => {
  const mean = passages.reduce((sum, { text }) => sum + text.length, 0) / passages.length;
  const weights = terms.map((term) => createWordWeight(term, stemOf));
  return passages.map(({ key, ...passage }) => {
    const [title, text, lead] = [foldText(passage.title), foldText(passage.text), foldText(passage.lead)];
    const lengthNorm = K1 * (1 - B + (B * passage.text.length) / mean);
    return terms.reduce((sum, { start, idf, found }, n) => {
      const count = (field: string) => countOccurrences(field, start, weights[n]!);
      const times = count(text) + TITLE * count(title) + LEAD * count(lead) || (found.has(key) ? MISSPELLED : 0);
      return sum + (idf * times * (K1 + 1)) / (times + lengthNorm);
    }, 0);
  });
};

/** Tests whether a passage contains one of the phrases. The search server only ensures that their words are in one field. */
export const createPhraseTest = (phrases: string[]): ((passage: FoundPassage) => boolean) => {
  if (phrases.length === 0) return () => false;
  const sought = phrases.map(joinWords);
  return ({ title, text }) =>
    [text, title].map(joinWords).some((field) => sought.some((phrase) => field.includes(phrase)));
};

/** The weight of a word that begins like the term. */
const createWordWeight = (term: Term, stemOf: Question["stemOf"]) => {
  const weights = new Map<string, number>();
  return (word: string): number => {
    const weight = weights.get(word) ?? (stemOf(word) === term.stem ? 1 : SAME_BEGINNING);
    weights.set(word, weight);
    return weight;
  };
};

const LETTER_OR_DIGIT = /[\p{L}\p{N}]/u;
const isLetterOrDigit = (code: number): boolean =>
  code < 128
    ? (code >= 97 && code <= 122) || (code >= 48 && code <= 57)
    : LETTER_OR_DIGIT.test(String.fromCharCode(code));

/** The sum of the weights of all words in a text that begin with `start`. */
const countOccurrences = (text: string, start: string, weight: (word: string) => number): number => {
  const isUnspaced = UNSPACED_SCRIPTS.test(start);
  let sum = 0;
  for (let at = text.indexOf(start); at !== -1; at = text.indexOf(start, at + start.length)) {
    if (isUnspaced) sum += 1;
    else if (at === 0 || !isLetterOrDigit(text.charCodeAt(at - 1))) {
      let end = at + start.length;
      while (end < text.length && isLetterOrDigit(text.charCodeAt(end))) end++;
      sum += weight(text.slice(at, end));
    }
  }
  return sum;
};
