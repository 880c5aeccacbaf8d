const WORDS: Readonly<Record<string, string>> = { turns: "requests", threads: "conversations" };

/** The usual names of kinds of data, singular and plural. */
export function kindWord(kind: string, count = 2): string {
  const word = WORDS[kind] ?? kind;
  return count === 1 ? word.replace(/s$/, "") : word;
}
