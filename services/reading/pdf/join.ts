/** Words that the document writes within a line, so that a word parted at a line's end is known again. */
export interface Vocabulary {
  has(word: string): boolean;
}

const WORDS = /\p{L}[\p{L}\p{M}\p{N}]*(?:[-‐]\p{L}[\p{L}\p{M}\p{N}]*)*/gu;
const MOST_WORDS = 300_000;

/** The words of the lines less the last of each, which may be half a word. */
export function vocabularyOf(lines: Iterable<string>): Vocabulary {
  const words = new Set<string>();
  for (const line of lines) {
    const found = line.match(WORDS) ?? [];
    for (const word of /[-‐\u00AD]$/.test(line) ? found.slice(0, -1) : found) {
      if (words.size < MOST_WORDS) words.add(word.toLowerCase().replaceAll("‐", "-"));
    }
  }
  return words;
}

/** Two words of the document, neither of them short: "mixed-mode", not "com-piler". */
const bothWords = (head: string, next: string, words: Vocabulary): boolean =>
  head.length > 3 && next.length > 3 && words.has(head.toLowerCase()) && words.has(next.toLowerCase());

const HYPHENS = "-‐\u00AD";
const LAST_WORD = /[\p{L}\p{M}]*$/u;

/** The letters before a hyphen at the end; null where there is none. */
function partedWord(text: string): { head: string; hyphen: string } | null {
  const hyphen = text.at(-1) ?? " ";
  if (!HYPHENS.includes(hyphen)) return null;
  const head = LAST_WORD.exec(text.slice(-60, -1))![0];
  return head === "" ? null : { head, hyphen };
}

/** Joins what follows after a line's end: a word that the line's end parted is whole again. */
export function joinTwo(before: string, after: string, words: Vocabulary): string {
  if (/[-‐]`$/.test(before) && after.startsWith("`")) return before.slice(0, -1) + after.slice(1);
  const parted = partedWord(before);
  const next = /^[\p{L}\p{M}]+/u.exec(after)?.[0];
  if (parted === null)
    return /[-‐–/]$/.test(before) && /^[\p{L}\p{N}]/u.test(after) && !/\s.$/.test(before)
      ? before + after
      : `${before} ${after}`;
  const { head, hyphen } = parted;
  if (hyphen === "\u00AD") return before.slice(0, -1) + after;
  if (next === undefined) return /^\p{N}/u.test(after) ? before + after : `${before} ${after}`;
  // "pre- and postwar" keeps its hyphen and its space.
  if (/^(?:and|or|und|oder|et|ou|y|o|to|bis)$/.test(next)) return `${before} ${after}`;
  const whole = words.has((head + next).toLowerCase());
  const compound = /^\p{Lu}/u.test(next) || words.has(`${head}-${next}`.toLowerCase()) || bothWords(head, next, words);
  return compound && !whole ? before + after : before.slice(0, -1) + after;
}

const CJK = /[\u2E80-\u9FFF\uAC00-\uD7AF\uF900-\uFAFF\uFF00-\uFFEF]/;

export const joinLines = (lines: readonly string[], words: Vocabulary): string =>
  lines
    .reduce((text, line) => {
      if (text === "") return line;
      const dense = CJK.test(text.at(-1)!) && CJK.test(line[0] ?? "") && !/[\uAC00-\uD7AF]/.test(text.at(-1)!);
      return dense ? text + line : joinTwo(text, line, words);
    }, "")
    .replaceAll("\u00AD", "");
