import { mergeRuns, type Paragraph, type TextRun } from "./paragraphs.ts";
import type { ParagraphState } from "./rtfState.ts";

/* The role of a paragraph, by its style, outline level or label, or by its indent if the file has no styles. */

type Kind = Paragraph["kind"];
export type ParagraphRole = Omit<Paragraph, "runs">;

const CODE_RUN =
  /^(?:verbatim char|source text|teletype|html (?:code|typewriter|sample|keyboard)|code char|inline code)$/i;

/** "contents": a line of the table of contents, which repeats a heading. */
const styleKind = (name: string): Kind | "contents" | undefined => {
  if (/^title$/i.test(name)) return "h1";
  const level = /^heading ?([1-9])$/i.exec(name)?.[1];
  if (level) return headingTag(Number(level));
  if (/^(?:preformatted text|source code|html preformatted|macro text)$/i.test(name)) return "pre";
  if (/^(?:quote|quotations|intense quote|block text|block quotation)$/i.test(name)) return "quote";
  return /^(?:toc|contents) (?:\d|heading)$/i.test(name) ? "contents" : undefined;
};

export const hasRole = (style: string): boolean => styleKind(style) !== undefined;

const headingTag = (level: number): Kind => `h${Math.min(Math.max(level, 1), 6)}` as Kind;

export const isCodeStyle = (name: string | undefined): boolean => name !== undefined && CODE_RUN.test(name);

/** A number that Markdown's own numbers can replace: `3.`, `(3)`. */
const SIMPLE_LABEL = /^[\s([]*\d+[\s.):\]–-]*$/;
/** Letters alone may be a bullet: fonts of symbols show `o` and `ü` as marks. */
const MAYBE_BULLET = /^\s*\p{L}{1,2}\s*$/u;

/**
 * Whether the label of an item has to be read as text: `(c)`, `iv)`, `2.1`, `Article 3`. Others refer to the item by it.
 * `isNumber`: the label is known to be no bullet.
 */
export const isReference = (label: string, isNumber = false): boolean =>
  /[\p{L}\p{N}]/u.test(label) && !SIMPLE_LABEL.test(label) && (isNumber || !MAYBE_BULLET.test(label));

const isOrdered = (label: string): boolean => /\d/.test(label) || /^\(?[a-z]{1,5}[.)]/i.test(label.trim());

/** The item of a label. */
const itemOf = (level: number, label: string): Paragraph["item"] => {
  const ordered = isOrdered(label);
  const number = ordered ? /\d{1,9}/.exec(label)?.[0] : undefined;
  return { level, ordered, ...(number !== undefined && { number: Number(number) }) };
};

/** A list label that is typed as text. */
const TYPED_LABEL = /^[ \t]*(?:[•·▪◦‣–—-]|(?:\d{1,3}|[a-z]{1,4})[.)])[ ]*\t[ \t]*/i;
/** The indent of one list level, in twips: a quarter of an inch. */
const INDENT = 360;

const typedItem = (runs: TextRun[], { left, first }: ParagraphState): ParagraphRole | undefined => {
  const [start] = runs;
  const label = start && first < 0 && left > 0 ? TYPED_LABEL.exec(start.text)?.[0] : undefined;
  if (!start || label === undefined) return undefined;
  const isRead = isReference(label);
  start.text = (isRead ? `${label.trim()} ` : "") + start.text.slice(label.length);
  const level = Math.max(Math.round(left / INDENT) - 1, 0);
  return { kind: "p", item: isRead ? { level, ordered: false } : itemOf(level, label) };
};

/** The role of a paragraph; null if it is left out. Removes a typed label from `runs`, unless others may refer to it. */
export const classifyParagraph = (
  state: ParagraphState,
  style: string,
  label: string,
  runs: TextRun[],
): ParagraphRole | null => {
  const kind = styleKind(style);
  if (kind === "contents") return null;
  if (kind) return { kind };
  if (state.outline !== null && state.outline >= 0 && state.outline <= 8)
    return { kind: headingTag(state.outline + 1) };
  if (label.trim() !== "") return { kind: "p", item: itemOf(state.level, label) };
  const typed = typedItem(runs, state);
  if (typed) return typed;
  return { kind: runs.length > 0 && runs.every((run) => run.code || run.isLineBreak) ? "pre" : "p" };
};

/** The paragraph, as an unnumbered item if its label is read as text; that of a heading always is. `isNumber`: not a bullet. */
export const withLabel = (role: ParagraphRole, label: string, runs: TextRun[], isNumber = false): Paragraph => {
  const isHeading = /^h\d$/.test(role.kind);
  const isRead = isHeading ? /[\p{L}\p{N}]/u.test(label) : role.item !== undefined && isReference(label, isNumber);
  if (!isRead) return { ...role, runs };
  const item = role.item && { level: role.item.level, ordered: false };
  return { ...role, item, runs: mergeRuns([{ ...runs[0], text: `${label} ` }, ...runs]) };
};
