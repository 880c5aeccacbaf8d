/** A text that people read, with its line. */
export interface Passage {
  line: number;
  text: string;
}

/** Titles of tests and log messages: strings that people read. */
const SPOKEN =
  /\b(?:it|test|describe)(?:\.\w+(?:\([^)]*\))?)*\(\s*(["'`])(.*?)\1|\blog(?:ger)?\.\w+\([^"'`]*(["'`])(.*?)\3/g;

/** A string of at least four words: a sentence of an error, of the API description or of a screen. */
const SENTENCE = /(["'`])((?:(?!\1)\S)+(?: (?:(?!\1)\S)+){3,})\1/g;

/**
 * Comments, titles of tests and log messages in a source file (TypeScript or SQL); with `sentences` also every string that is a
 * sentence. Strings that contain `//` after a space count as comments.
 */
export const commentary = (lines: readonly string[], { sentences }: { sentences: boolean }): Passage[] => {
  const passages: Passage[] = [];
  let isInBlock = false;
  for (const [index, source] of lines.entries()) {
    const add = (text: string | undefined) => text && passages.push({ line: index + 1, text });
    if (isInBlock) {
      const end = source.indexOf("*/");
      add(end < 0 ? source : source.slice(0, end));
      isInBlock = end < 0;
      continue;
    }
    const block = /(?:^|\s|\{)\/\*(.*)$/.exec(source);
    const line = /(?:^|\s)(?:\/\/|--)\s(.*)$/.exec(source);
    if (block && !(line && line.index < block.index)) {
      const [text = "", rest] = (block[1] ?? "").split("*/");
      add(text);
      isInBlock = rest === undefined;
    } else add(line?.[1]);
    for (const [, , title, , message] of source.matchAll(SPOKEN)) add(title ?? message);
    if (sentences) for (const [, , sentence] of source.matchAll(SENTENCE)) add(sentence);
  }
  return passages;
};

/** The text of a Markdown page outside of its code blocks. */
export const prose = (lines: readonly string[]): Passage[] => {
  let isCode = false;
  return lines.flatMap((text, index) => {
    if (/^\s*(```|~~~)/.test(text)) isCode = !isCode;
    return isCode ? [] : [{ line: index + 1, text: text.replace(/`[^`]*`/g, "") }];
  });
};
