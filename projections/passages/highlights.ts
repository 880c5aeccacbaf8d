import { foldText, WORD_PARTS, UNSPACED_SCRIPTS, type Question } from "./terms.ts";

/** Half open, in UTF-16 code units. */
export interface Highlight {
  start: number;
  end: number;
}

/** Finds a question's words, in any of their forms, and its phrases in a text. In order, without overlaps. */
export function createHighlighter({ terms, phrases, stemOf }: Question): (text: string) => Highlight[] {
  const wordsOfPhrases = phrases.map((phrase) => foldText(phrase).split(" "));
  const unspaced = terms.filter(({ start }) => UNSPACED_SCRIPTS.test(start));
  const known = new Map<string, boolean>();
  const isMatch = (word: string): boolean => {
    const match = known.get(word) ?? terms.some(({ start, stem }) => word.startsWith(start) && stemOf(word) === stem);
    known.set(word, match);
    return match;
  };
  return (text) => {
    const words = Array.from(text.matchAll(WORD_PARTS), ({ 0: word, index }) => ({
      word: foldText(word),
      start: index,
      end: index + word.length,
    }));
    const found = words.flatMap(({ word, start, end }, n): Highlight[] => {
      const phrase = wordsOfPhrases.find((some) => some.every((part, m) => words[n + m]?.word === part));
      if (phrase) return [{ start, end: words[n + phrase.length - 1]!.end }];
      return isMatch(word) ? [{ start, end }] : [];
    });
    for (const { start: sought } of unspaced)
      for (let at = text.indexOf(sought); at !== -1; at = text.indexOf(sought, at + sought.length))
        found.push({ start: at, end: at + sought.length });
    return merge(found.toSorted((a, b) => a.start - b.start));
  };
}

function merge(sorted: Highlight[]): Highlight[] {
  const merged: Highlight[] = [];
  for (const next of sorted) {
    const last = merged.at(-1);
    if (last && next.start < last.end) last.end = Math.max(last.end, next.end);
    else merged.push({ ...next });
  }
  return merged;
}
