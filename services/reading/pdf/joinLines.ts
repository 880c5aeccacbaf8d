/** Words inside the document's lines, which identify words hyphenated at a line's end. */
export interface Vocabulary {
  has(word: string): boolean;
}

const WORDS = /\p{L}[\p{L}\p{M}\p{N}]*(?:[-‐]\p{L}[\p{L}\p{M}\p{N}]*)*/gu;
const MAX_WORDS = 300_000;

/** The words of the lines, except a last word that ends in a hyphen. Collected on first use, because most texts have no such line. */
export function collectVocabulary(lines: Iterable<string>): Vocabulary {
  let words: Set<string> | undefined;
  return { has: (word) => (words ??= collectWords(lines)).has(word) };
}

function collectWords(lines: Iterable<string>): Set<string> {
  const words = new Set<string>();
  for (const line of lines) {
    const found = line.match(WORDS) ?? [];
    for (const word of /[-‐\u00AD]$/.test(line) ? found.slice(0, -1) : found) {
      if (words.size < MAX_WORDS) words.add(word.toLowerCase().replaceAll("‐", "-"));
    }
  }
  return words;
}

/** Whether both parts are longer words of the document: "mixed-mode", but not "com-piler". */
const areWords = (head: string, next: string, words: Vocabulary): boolean =>
  head.length > 3 && next.length > 3 && words.has(head.toLowerCase()) && words.has(next.toLowerCase());

const HYPHENS = "-‐\u00AD";
const LAST_WORD = /[\p{L}\p{M}]*$/u;

/** The letters before a hyphen at the end; null without one. */
function hyphenatedEnd(text: string): { head: string; hyphen: string } | null {
  const hyphen = text.at(-1) ?? " ";
  if (!HYPHENS.includes(hyphen)) return null;
  const head = LAST_WORD.exec(text.slice(-60, -1))![0];
  return head === "" ? null : { head, hyphen };
}

/** Joins two lines. A word that was hyphenated only at the line break loses its hyphen. */
export function joinPair(before: string, after: string, words: Vocabulary): string {
  // an expression that ends in `$` is tried at each place of a text, which may be a whole page
  const end = before.slice(-2);
  if (/[-‐]`$/.test(end) && after.startsWith("`")) return before.slice(0, -1) + after.slice(1);
  const hyphenated = hyphenatedEnd(before);
  const next = /^[\p{L}\p{M}]+/u.exec(after)?.[0];
  if (hyphenated === null)
    return /[-‐–/]$/.test(end) && /^[\p{L}\p{N}]/u.test(after) && !/\s.$/.test(end)
      ? before + after
      : `${before} ${after}`;
  const { head, hyphen } = hyphenated;
  if (hyphen === "\u00AD") return before.slice(0, -1) + after;
  if (next === undefined) return /^\p{N}/u.test(after) ? before + after : `${before} ${after}`;
  // "pre- and postwar" keeps its hyphen and its space
  if (/^(?:and|or|und|oder|et|ou|y|o|to|bis)$/.test(next)) return `${before} ${after}`;
  const whole = words.has((head + next).toLowerCase());
  const compound = /^\p{Lu}/u.test(next) || words.has(`${head}-${next}`.toLowerCase()) || areWords(head, next, words);
  return compound && !whole ? before + after : before.slice(0, -1) + after;
}

const CJK = /[\u2E80-\u9FFF\uAC00-\uD7AF\uF900-\uFAFF\uFF00-\uFFEF]/;

/** Joins the lines of a paragraph. Hyphens at line ends are removed if `words` has the whole word. */
export const joinLines = (lines: readonly string[], words: Vocabulary): string =>
  lines
    .reduce((text, line) => {
      if (text === "") return line;
      const dense = CJK.test(text.at(-1)!) && CJK.test(line[0] ?? "") && !/[\uAC00-\uD7AF]/.test(text.at(-1)!);
      return dense ? text + line : joinPair(text, line, words);
    }, "")
    .replaceAll("\u00AD", "");
