import type { Faces } from "./fonts.ts";
import type { Box } from "./geometry.ts";
import { type Line, parted, raised, textOfLine } from "./lines.ts";
import { escapeInline, linkTo } from "./markdown.ts";
import { MARKER } from "./marks.ts";
import type { Run } from "./runs.ts";

/** A line as the second pass over the document needs it: small, and its runs are gone. */
export interface TextLine extends Box {
  /** As it stands on the page. */
  raw: string;
  /** With the Markdown of what is within the line: links and code. */
  text: string;
  baseline: number;
  size: number;
  bold: boolean;
  italic: boolean;
  mono: boolean;
  /** Of most of its characters. */
  font: string;
  /** It stands under a bullet of a symbol font, whatever that sign is in Unicode. */
  bullet: boolean;
  /** Where its text begins after its first sign. */
  inner: number;
}

interface Piece {
  text: string;
  link: string | null;
  mono: boolean;
}

/** Neighbours that differ in nothing are one piece. */
function piecesOf(runs: readonly Run[], line: Line, faces: Faces, allMono: boolean): Piece[] {
  const pieces: Piece[] = [];
  for (const [index, run] of runs.entries()) {
    const before = runs[index - 1];
    const space = before !== undefined && parted(before, run, line.size) ? " " : "";
    const mono = !allMono && faces.face(run.font).mono;
    const last = pieces.at(-1);
    const text = raised(run, line);
    if (last !== undefined && last.link === run.link && last.mono === mono) last.text += space + text;
    else {
      if (last !== undefined) last.text += space;
      pieces.push({ text, link: run.link, mono });
    }
  }
  return pieces;
}

const inline = ({ text, link, mono }: Piece): string => {
  const [, start = "", said = "", end = ""] = /^(\s*)(.*?)(\s*)$/s.exec(text)!;
  if (said === "") return text;
  const code = mono && /\w/.test(said) && !said.includes("`") ? `\`${said}\`` : escapeInline(said);
  return start + (link === null ? code : linkTo(link, said, code)) + end;
};

const share = (runs: readonly Run[], has: (run: Run) => boolean): number => {
  let [some, all] = [0, 0];
  for (const run of runs) {
    all += run.text.length;
    if (has(run)) some += run.text.length;
  }
  return all === 0 ? 0 : some / all;
};

/** Where the text begins after its bullet; an estimate where both are one run. */
function innerOf(line: Line): number {
  const first = line.runs[0]!;
  const second = line.runs[1];
  if (second !== undefined && first.text.trim().length < 6 && second.x0 > first.x0) return second.x0;
  const marker = MARKER.exec(first.text)?.[0].length ?? 0;
  return first.x0 + (marker * (first.x1 - first.x0)) / first.text.length;
}

export function textLine(line: Line, faces: Faces): TextLine {
  const mono = share(line.runs, (run) => faces.face(run.font).mono) > 0.9;
  const main = line.runs.reduce((a, b) => (b.text.length > a.text.length ? b : a));
  const first = line.runs[0]!;
  const sign = first.text.trim().length === 1 && line.runs.length > 1 && first.font !== main.font;
  return {
    x0: line.x0,
    y0: line.y0,
    x1: line.x1,
    y1: line.y1,
    raw: textOfLine(line),
    text: piecesOf(line.runs, line, faces, mono).map(inline).join("").replace(/ {2,}/g, " ").trim(),
    baseline: line.baseline,
    size: line.size,
    bold: share(line.runs, (run) => faces.face(run.font).bold) > 0.85,
    italic: share(line.runs, (run) => faces.face(run.font).italic) > 0.9,
    mono,
    font: main.font,
    inner: innerOf(line),
    bullet: sign && (faces.face(first.font).symbol || (first.text === "o" && faces.face(first.font).mono)),
  };
}
