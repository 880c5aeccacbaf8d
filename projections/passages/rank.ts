import type { FoundPassage } from "./engine.ts";
import { fold, type Question, type Term } from "./terms.ts";

const [K1, B] = [1.2, 0.5];
/**
 * How often a word counts: in the title, in the lead, where it only begins alike, and where the search server found the
 * term but it is spelled otherwise. Measured with `npm run bench -- search`.
 */
const [TITLE, LEAD, ALIKE, MISSPELLED] = [3, 0.5, 0.3, 0.3];

export interface Weighed extends Term {
  /** How rare it is. */
  idf: number;
  /** Keys of the passages that the search server found for it, with their places. */
  found: Map<string, number>;
}

/** How rare a term is that so many of all passages have. */
export const rarity = (having: number, all: number): number =>
  Math.log(1 + (Math.max(all - having, 0) + 0.5) / (having + 0.5));

/** BM25 of each passage, in their order. */
export const score = (
  passages: (FoundPassage & { key: string })[],
  terms: Weighed[],
  stemOf: Question["stemOf"],
): number[] => {
  const mean = passages.reduce((sum, { text }) => sum + text.length, 0) / passages.length;
  const strengths = terms.map((term) => strengthOf(term, stemOf));
  return passages.map(({ key, ...passage }) => {
    const [title, text, lead] = [fold(passage.title), fold(passage.text), fold(passage.lead)];
    const long = K1 * (1 - B + (B * passage.text.length) / mean);
    return terms.reduce((sum, { start, idf, found }, n) => {
      const count = (where: string) => occurrences(where, start, strengths[n]!);
      const times = count(text) + TITLE * count(title) + LEAD * count(lead) || (found.has(key) ? MISSPELLED : 0);
      return sum + (idf * times * (K1 + 1)) / (times + long);
    }, 0);
  });
};

/** Whether a passage says one of the phrases: the search server only knows of proximity that words are in the same field. */
export const sayingOneOf = (phrases: string[]): ((passage: FoundPassage) => boolean) => {
  const said = phrases.map((phrase) => new RegExp(fold(phrase).replaceAll(" ", "[^\\p{L}\\p{N}]+"), "u"));
  return ({ title, text }) => said.some((one) => one.test(fold(text)) || one.test(fold(title)));
};

/** How much a word that begins as the term does counts for it. */
const strengthOf = (term: Term, stemOf: Question["stemOf"]) => {
  const known = new Map<string, number>();
  return (word: string): number => {
    const strength = known.get(word) ?? (stemOf(word) === term.stem ? 1 : ALIKE);
    known.set(word, strength);
    return strength;
  };
};

const PART = /[\p{L}\p{N}]/u;
const isPart = (code: number): boolean =>
  code < 128 ? (code >= 97 && code <= 122) || (code >= 48 && code <= 57) : PART.test(String.fromCharCode(code));
/** Scripts that put no space between words. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

/** The sum of what the words count that begin so. */
const occurrences = (text: string, start: string, strength: (word: string) => number): number => {
  const anywhere = UNSPACED.test(start);
  let sum = 0;
  for (let at = text.indexOf(start); at !== -1; at = text.indexOf(start, at + start.length)) {
    if (anywhere) sum += 1;
    else if (at === 0 || !isPart(text.charCodeAt(at - 1))) {
      let end = at + start.length;
      while (end < text.length && isPart(text.charCodeAt(end))) end++;
      sum += strength(text.slice(at, end));
    }
  }
  return sum;
};
