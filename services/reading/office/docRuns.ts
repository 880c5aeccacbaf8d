import { type DocFile, findRange } from "./docFile.ts";
import { type FormatRun, readFlag, readNumber } from "./docProperties.ts";
import type { DocStyle } from "./docStyles.ts";
import { findSymbol, SYMBOL_PLACEHOLDER } from "./docSymbols.ts";
import { fieldLabel, fieldReading } from "./fieldLabels.ts";
import { mergeRuns, type TextRun } from "./paragraphs.ts";
import { isCodeStyle } from "./paragraphRole.ts";

/* The text of a Word document as styled runs, with links and line breaks. */

const MODIFIER = {
  deleted: 0x0800,
  bold: 0x0835,
  italic: 0x0836,
  struck: 0x0837,
  hidden: 0x083c,
  charStyle: 0x4a30,
};

export interface Field {
  /** The field's instruction, such as `HYPERLINK "…"`. */
  address: string;
  /** Whether the reader is past the instruction, in the field's displayed text. */
  inResult: boolean;
}

export interface DocSource {
  file: DocFile;
  characterFormats: FormatRun[];
  styles: (DocStyle | undefined)[];
  /** The run for a note reference at a character; empty if the character is none. */
  noteAt(character: number): TextRun[];
}

const textStyle = (source: DocSource, run: FormatRun | undefined): Omit<TextRun, "text"> | null => {
  const modifiers = run?.modifiers;
  if (readFlag(modifiers, MODIFIER.deleted) || readFlag(modifiers, MODIFIER.hidden)) return null;
  const style = modifiers && readNumber(modifiers, MODIFIER.charStyle);
  return {
    bold: readFlag(modifiers, MODIFIER.bold),
    italic: readFlag(modifiers, MODIFIER.italic),
    strikethrough: readFlag(modifiers, MODIFIER.struck),
    code: isCodeStyle(source.styles[style ?? -1]?.name),
  };
};

/** The text in pieces with one character format each. */
function* formattedPieces(
  source: DocSource,
  from: number,
  to: number,
): Generator<{ at: number; text: string; run?: FormatRun }> {
  for (let at = from; at < to; ) {
    const { offset, width, following } = source.file.locate(at);
    const run = findRange(source.characterFormats, offset);
    const length = run ? Math.ceil((run.to - offset) / width) : 1;
    const end = Math.min(at + Math.max(Math.min(length, following), 1), to);
    const sign = findSymbol(run?.modifiers, source.file.fonts);
    const text = source.file.text.slice(at, end);
    yield { at, text: sign === undefined ? text : text.replaceAll(SYMBOL_PLACEHOLDER, sign), run };
    at = end;
  }
}

const ADDRESS = /^\s*HYPERLINK\s+"([^"]+)"/i;
// oxlint-disable-next-line no-control-regex
const CONTROL = /([\u0001-\u0008\u000B\u000E-\u001F])/;

/** The text between two characters as runs. `fields`: the open fields, which may span paragraphs. */
export const textRuns = (source: DocSource, from: number, to: number, fields: Field[]): TextRun[] => {
  const runs: TextRun[] = [];
  for (const { at, text, run } of formattedPieces(source, from, to)) {
    const style = textStyle(source, run);
    let character = at;
    for (const part of text.split(CONTROL)) {
      const field = fields.at(-1);
      if (part === "\u0013") fields.push({ address: "", inResult: false });
      else if (part === "\u0014" && field) field.inResult = true;
      else if (part === "\u0015") {
        fields.pop();
        const label = style && field && !field.inResult ? fieldLabel(field.address) : "";
        if (label !== "")
          runs.push({ ...style, text: label, reading: fieldReading(field?.address ?? "") || undefined });
      } else if (field && !field.inResult) field.address += part;
      else if (part === "\u0002") runs.push(...source.noteAt(character));
      else if (style && part === "\u000B") runs.push({ ...style, text: "", isLineBreak: true });
      else if (style && part === "\u001E") runs.push({ ...style, text: "-" });
      else if (style && part !== "" && !CONTROL.test(part)) {
        const href = fields.map(({ address }) => ADDRESS.exec(address)?.[1]).findLast(Boolean);
        runs.push({ ...style, text: part, href });
      }
      character += part.length;
    }
  }
  return mergeRuns(runs);
};
