import type { Paragraph, Run } from "./flow.ts";
import type { ParagraphState } from "./rtfState.ts";

/* What a paragraph is: by its style, its outline level, its label, and by how it is set where a file has no styles. */

type Kind = Paragraph["kind"];
export type Meaning = Omit<Paragraph, "runs">;

const CODE_RUN =
  /^(?:verbatim char|source text|teletype|html (?:code|typewriter|sample|keyboard)|code char|inline code)$/i;

/** "contents" is a line of the list of contents, which repeats a heading. */
const kindOfStyle = (name: string): Kind | "contents" | undefined => {
  if (/^title$/i.test(name)) return "h1";
  const level = /^heading ?([1-9])$/i.exec(name)?.[1];
  if (level) return headingOf(Number(level));
  if (/^(?:preformatted text|source code|html preformatted|macro text)$/i.test(name)) return "pre";
  if (/^(?:quote|quotations|intense quote|block text|block quotation)$/i.test(name)) return "quote";
  return /^(?:toc|contents) (?:\d|heading)$/i.test(name) ? "contents" : undefined;
};

export const hasMeaning = (style: string): boolean => kindOfStyle(style) !== undefined;

const headingOf = (level: number): Kind => `h${Math.min(Math.max(level, 1), 6)}` as Kind;

export const isCodeStyle = (name: string | undefined): boolean => name !== undefined && CODE_RUN.test(name);

const isOrdered = (label: string): boolean => /\d/.test(label) || /^[a-z]{1,5}[.)]/i.test(label.trim());

/** A label that is typed like any text, as programs without lists write it. */
const TYPED = /^[ \t]*(?:[•·▪◦‣–—-]|(?:\d{1,3}|[a-z]{1,4})[.)])[ ]*\t[ \t]*/i;
/** A quarter of an inch, in twips. */
const INDENT = 360;

const typedItem = (runs: Run[], { left, first }: ParagraphState): Meaning | undefined => {
  const [start] = runs;
  const label = start && first < 0 && left > 0 ? TYPED.exec(start.text)?.[0] : undefined;
  if (!start || label === undefined) return undefined;
  start.text = start.text.slice(label.length);
  return { kind: "p", item: { level: Math.max(Math.round(left / INDENT) - 1, 0), ordered: isOrdered(label) } };
};

/** The meaning of a paragraph, null for one that is left out; a typed label is taken from its text. */
export const meaningOf = (state: ParagraphState, style: string, label: string, runs: Run[]): Meaning | null => {
  const kind = kindOfStyle(style);
  if (kind === "contents") return null;
  if (kind) return { kind };
  if (state.outline !== null && state.outline >= 0 && state.outline <= 8) return { kind: headingOf(state.outline + 1) };
  if (label.trim() !== "") return { kind: "p", item: { level: state.level, ordered: isOrdered(label) } };
  const typed = typedItem(runs, state);
  if (typed) return typed;
  return { kind: runs.length > 0 && runs.every((run) => run.code || run.line) ? "pre" : "p" };
};
