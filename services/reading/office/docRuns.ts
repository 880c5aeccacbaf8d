import type { DocFile } from "./docFile.ts";
import { flagOf, numberOf, type Run, runAt } from "./docProperties.ts";
import type { DocStyle } from "./docStyles.ts";
import { merged, type Run as TextRun } from "./flow.ts";
import { isCodeStyle } from "./meaning.ts";

/* Signs of a Word document as runs of text: looks, links, line breaks. */

const CHANGE = {
  deleted: 0x0800,
  bold: 0x0835,
  italic: 0x0836,
  struck: 0x0837,
  hidden: 0x083c,
  charStyle: 0x4a30,
};

export interface Field {
  address: string;
  /** Behind its address comes what it shows. */
  shown: boolean;
}

export interface DocSigns {
  file: DocFile;
  looks: Run[];
  styles: (DocStyle | undefined)[];
  /** What stands for a sign that refers to a note; nothing for any other. */
  noteAt(sign: number): TextRun[];
}

const lookOf = (source: DocSigns, run: Run | undefined): Omit<TextRun, "text"> | null => {
  const changes = run?.changes;
  if (flagOf(changes, CHANGE.deleted) || flagOf(changes, CHANGE.hidden)) return null;
  const style = changes && numberOf(changes, CHANGE.charStyle);
  return {
    bold: flagOf(changes, CHANGE.bold),
    italic: flagOf(changes, CHANGE.italic),
    struck: flagOf(changes, CHANGE.struck),
    code: isCodeStyle(source.styles[style ?? -1]?.name),
  };
};

/** Pieces of the text of one look each. */
function* looksBetween(source: DocSigns, from: number, to: number): Generator<{ at: number; text: string; run?: Run }> {
  for (let at = from; at < to; ) {
    const { place, width, following } = source.file.locate(at);
    const run = runAt(source.looks, place);
    const length = run ? Math.ceil((run.to - place) / width) : 1;
    const end = Math.min(at + Math.max(Math.min(length, following), 1), to);
    yield { at, text: source.file.text.slice(at, end), run };
    at = end;
  }
}

const ADDRESS = /^\s*HYPERLINK\s+"([^"]+)"/i;
// oxlint-disable-next-line no-control-regex
const CONTROL = /([\u0001-\u0008\u000B\u000E-\u001F])/;

/** The text between two signs; fields may stay open from one paragraph to the next. */
export const textRuns = (source: DocSigns, from: number, to: number, fields: Field[]): TextRun[] => {
  const runs: TextRun[] = [];
  for (const { at, text, run } of looksBetween(source, from, to)) {
    const look = lookOf(source, run);
    let sign = at;
    for (const part of text.split(CONTROL)) {
      const field = fields.at(-1);
      if (part === "\u0013") fields.push({ address: "", shown: false });
      else if (part === "\u0014" && field) field.shown = true;
      else if (part === "\u0015") fields.pop();
      else if (field && !field.shown) field.address += part;
      else if (part === "\u0002") runs.push(...source.noteAt(sign));
      else if (look && part === "\u000B") runs.push({ ...look, text: "", line: true });
      else if (look && part === "\u001E") runs.push({ ...look, text: "-" });
      else if (look && part !== "" && !CONTROL.test(part)) {
        const href = fields.map(({ address }) => ADDRESS.exec(address)?.[1]).findLast(Boolean);
        runs.push({ ...look, text: part, href });
      }
      sign += part.length;
    }
  }
  return merged(runs);
};
