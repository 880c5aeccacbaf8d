const WORDS: Readonly<Record<string, string>> = { turns: "requests", threads: "conversations" };

/** Kinds of things that are kept and erased, as people call them: one of them, or many. */
export function kindWord(kind: string, count = 2): string {
  const word = WORDS[kind] ?? kind;
  return count === 1 ? word.replace(/s$/, "") : word;
}
