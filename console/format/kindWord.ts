const WORDS: Readonly<Record<string, string>> = { turns: "requests", threads: "conversations" };

/** Kinds of things that are kept and erased, as people call them. */
export const kindWord = (kind: string): string => WORDS[kind] ?? kind;
