import type { FoundPassage } from "./engine.ts";
import { joinWords, MAX_QUESTION_LENGTH, WORD_PARTS, UNSPACED_SCRIPTS } from "./terms.ts";

/* Operators of a query: "words in quotes" must occur literally; -word and -"words in quotes" must not occur. */

export const MAX_QUOTED = 5;
export const MAX_EXCLUDED = 10;
/** Maximum words of a phrase; the rest is ignored. */
const MAX_PHRASE_WORDS = 20;

/** A phrase, as its words in lower case. */
type Phrase = string[];

export interface Operators {
  required: Phrase[];
  excluded: Phrase[];
  /** The query without excluded words. */
  text: string;
}

/**
 * Matches an operator, but not a dash between words or before a number, nor two dashes. Lengths are bounded, so that a text full of
 * quotes is parsed fast.
 */
const OPERATOR =
  /(?<=^|\s)-(?:"(?<notQuoted>[^"]{1,200})"|“(?<notCurly>[^”]{1,200})”|(?<notWord>(?!\d)[\p{L}\p{N}][^\s"“”]{0,100}))|"(?<quoted>[^"]{1,200})"|“(?<curly>[^”]{1,200})”|„(?<low>[^“”]{1,200})[“”]|«(?<angle>[^»]{1,200})»/gu;

const toPhrase = (text: string): Phrase => (text.toLowerCase().match(WORD_PARTS) ?? []).slice(0, MAX_PHRASE_WORDS);

/**
 * Operators beyond the limits are treated as ordinary words, and so is a query that only excludes, because no query is refused
 * (spec: Knowledge API, Search rules).
 */
export function readOperators(query: string): Operators {
  const [required, excluded]: [Phrase[], Phrase[]] = [[], []];
  const question = query.slice(0, MAX_QUESTION_LENGTH);
  const text = question.replace(OPERATOR, (whole, ...found) => {
    const { notQuoted, notCurly, notWord, quoted, curly, low, angle } = found.at(-1) as Record<string, string>;
    const not = notQuoted ?? notCurly ?? notWord;
    const phrase = toPhrase(not ?? quoted ?? curly ?? low ?? angle ?? "");
    const [phrases, most] = not === undefined ? [required, MAX_QUOTED] : [excluded, MAX_EXCLUDED];
    if (phrase.length === 0) return not === undefined ? whole : " ";
    if (phrases.length === most) return whole;
    phrases.push(phrase);
    return not === undefined ? whole : " ";
  });
  if (excluded.length > 0 && !/[\p{L}\p{N}\p{Extended_Pictographic}]/u.test(text))
    return { required, excluded: [], text: question };
  return { required, excluded, text };
}

export const hasOperators = ({ required, excluded }: Operators): boolean => required.length + excluded.length > 0;

const quote = (phrase: Phrase): string => (phrase.length === 1 ? phrase[0]! : `"${phrase.join(" ")}"`);

/** The operators in the search server's syntax, which finds possible matches. It ignores word order, so excluded phrases are checked afterwards. */
export const serverOperators = ({ required, excluded }: Operators): string =>
  [...required.map(quote), ...excluded.filter((phrase) => phrase.length === 1).map(([word]) => `-${word}`)].join(" ");

/** Finds whole words, except in scripts without spaces. The text must be from joinWords, surrounded by spaces. */
function createFinder(phrase: Phrase): (text: string) => boolean {
  const words = joinWords(phrase.join(" "));
  const sought = UNSPACED_SCRIPTS.test(words) ? words : ` ${words} `;
  return (text) => text.includes(sought);
}

/** Tests whether a passage has every required phrase in its text or title, and no excluded one. */
export function createOperatorTest({ required, excluded }: Operators): (passage: FoundPassage) => boolean {
  const [wanted, unwanted] = [required.map(createFinder), excluded.map(createFinder)];
  return ({ title, text }) => {
    const fields = [text, title].map((field) => ` ${joinWords(field)} `);
    const isIn = (find: (field: string) => boolean) => fields.some(find);
    return wanted.every(isIn) && !unwanted.some(isIn);
  };
}
