import type { FontStyles } from "./fontStyles.ts";
import type { Box } from "./geometry.ts";
import { type Line, hasSpaceBetween, markSuperscript, lineText, splitCells } from "./lines.ts";
import { escapeInline, toLink } from "./markdown.ts";
import { LIST_MARKER } from "./patterns.ts";
import type { TextRun } from "./runs.ts";

/** The data of a line for the second pass over the document, without its runs to save memory. */
export interface TextLine extends Box {
  /** Plain text. */
  raw: string;
  /** Markdown, with links and code. */
  text: string;
  baseline: number;
  size: number;
  bold: boolean;
  italic: boolean;
  mono: boolean;
  /** Font of its longest run. */
  font: string;
  /** Whether it starts with a bullet of a symbol font, whose Unicode value may be anything. */
  bullet: boolean;
  /** x where its text starts after a marker, in points. */
  textStart: number;
  /** Whether it is a label with its value, as in a form. */
  isField: boolean;
}

interface StyledText {
  text: string;
  link: string | null;
  mono: boolean;
}

/** Merges neighbouring runs with the same link and style. */
function mergeRuns(runs: readonly TextRun[], line: Line, fonts: FontStyles, allMono: boolean): StyledText[] {
  const pieces: StyledText[] = [];
  for (const [index, run] of runs.entries()) {
    const before = runs[index - 1];
    const space = before !== undefined && hasSpaceBetween(before, run, line.size) ? " " : "";
    const mono = !allMono && fonts.styleOf(run.font).mono;
    const last = pieces.at(-1);
    const text = markSuperscript(run, line);
    if (last !== undefined && last.link === run.link && last.mono === mono) last.text += space + text;
    else {
      if (last !== undefined) last.text += space;
      pieces.push({ text, link: run.link, mono });
    }
  }
  return pieces;
}

const toMarkdown = ({ text, link, mono }: StyledText): string => {
  const words = text.trim();
  if (words === "") return text;
  const from = text.length - text.trimStart().length;
  const [start, end] = [text.slice(0, from), text.slice(from + words.length)];
  const code = mono && /\w/.test(words) && !words.includes("`") ? `\`${words}\`` : escapeInline(words);
  return start + (link === null ? code : toLink(link, words, code)) + end;
};

/** The share of the characters whose run has a property, from 0 to 1. */
const shareOf = (runs: readonly TextRun[], has: (run: TextRun) => boolean): number => {
  let [some, all] = [0, 0];
  for (const run of runs) {
    all += run.text.length;
    if (has(run)) some += run.text.length;
  }
  return all === 0 ? 0 : some / all;
};

/** x where the text starts after its marker, in points; an estimate if both are one run. */
function findTextStart(line: Line): number {
  const first = line.runs[0]!;
  const second = line.runs[1];
  if (second !== undefined && first.text.trim().length < 6 && second.x0 > first.x0) return second.x0;
  const marker = LIST_MARKER.exec(first.text)?.[0].length ?? 0;
  return first.x0 + (marker * (first.x1 - first.x0)) / first.text.length;
}

/** Maximum words of a label, and of its value. */
const MAX_FIELD_WORDS = [4, 6];
/** In UTF-16 units. */
const MAX_LABEL_LENGTH = 40;

/** Whether the line consists of a short text and another one after a wide space. */
function isField(line: Line): boolean {
  const split = splitCells(line);
  if (split.length !== MAX_FIELD_WORDS.length) return false;
  const cells = split.map((cell) => lineText(line, cell));
  const isShort = cells.every((text, at) => text.split(/\s/).length <= MAX_FIELD_WORDS[at]!);
  const isLabel =
    cells[0]!.length <= MAX_LABEL_LENGTH && !/[,;(]$/.test(cells[0]!) && !LIST_MARKER.test(`${cells[0]!} `);
  return isShort && isLabel;
}

export function toTextLine(line: Line, fonts: FontStyles): TextLine {
  const mono = shareOf(line.runs, (run) => fonts.styleOf(run.font).mono) > 0.9;
  const main = line.runs.reduce((a, b) => (b.text.length > a.text.length ? b : a));
  const first = line.runs[0]!;
  const startsWithSymbol = first.text.trim().length === 1 && line.runs.length > 1 && first.font !== main.font;
  return {
    x0: line.x0,
    y0: line.y0,
    x1: line.x1,
    y1: line.y1,
    raw: lineText(line),
    text: mergeRuns(line.runs, line, fonts, mono).map(toMarkdown).join("").replace(/ {2,}/g, " ").trim(),
    baseline: line.baseline,
    size: line.size,
    bold: shareOf(line.runs, (run) => fonts.styleOf(run.font).bold) > 0.85,
    italic: shareOf(line.runs, (run) => fonts.styleOf(run.font).italic) > 0.9,
    mono,
    font: main.font,
    textStart: findTextStart(line),
    isField: !mono && isField(line),
    bullet:
      startsWithSymbol && (fonts.styleOf(first.font).symbol || (first.text === "o" && fonts.styleOf(first.font).mono)),
  };
}
