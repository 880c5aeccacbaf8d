import type { ElementContent } from "hast";
import { NOTE } from "../html/notes.ts";
import { element } from "../html/tree.ts";
import { type DocFile, placesIn, tables } from "./docFile.ts";
import { type Changes, flagOf, numberOf, readRuns, type Run, runAt } from "./docProperties.ts";
import { readDocLists } from "./docLists.ts";
import { readDocStyles, styleChain } from "./docStyles.ts";
import type { CellPlan } from "./edgeTable.ts";
import { merged, type Run as TextRun } from "./flow.ts";
import { flowBody } from "./flowBody.ts";
import { hasMeaning, isCodeStyle, meaningOf } from "./meaning.ts";

const CHANGE = {
  inTable: 0x2416,
  rowEnd: 0x2417,
  innerRowEnd: 0x244c,
  header: 0x3404,
  columns: 0xd608,
  list: 0x460b,
  level: 0x260a,
  outline: 0x2640,
  deleted: 0x0800,
  bold: 0x0835,
  italic: 0x0836,
  struck: 0x0837,
  hidden: 0x083c,
  charStyle: 0x4a30,
};

/** Bytes of a cell's description behind the edges; its first word holds how it is merged. */
const CELL = 20;

const plansOf = (changes: Changes): CellPlan[] => {
  const columns = changes.get(CHANGE.columns);
  if (!columns || columns.length === 0) return [];
  const count = columns.readUInt8(0);
  return Array.from({ length: count }, (_, at) => {
    const place = 1 + (count + 1) * 2 + at * CELL;
    const merging = place + 2 <= columns.length ? columns.readUInt16LE(place) : 0;
    return { edge: columns.readInt16LE(1 + (at + 1) * 2), wide: (merging & 2) !== 0, tall: (merging & 0x60) === 0x20 };
  });
};

interface Field {
  address: string;
  /** Behind its address comes what it shows. */
  shown: boolean;
}

interface Reader {
  file: DocFile;
  paragraphs: Run[];
  looks: Run[];
  styles: ReturnType<typeof readDocStyles>;
  numbered(use: number, level: number): boolean;
  /** Signs of the text that stand for a note, and where the notes' texts begin and end. */
  marks: Map<number, { from: number; to: number }>;
  notes: ElementContent[];
}

/** What a paragraph's style and itself say, itself last. */
const saidOf = (reader: Reader, run: Run | undefined): { name: string; changes: Changes } => {
  const chain = styleChain(reader.styles, run?.style ?? 0);
  const meant = chain.find(({ name }) => hasMeaning(name)) ?? chain[0];
  const said = [...chain.toReversed().map(({ changes }) => changes), run?.changes ?? new Map()];
  return { name: meant?.name ?? "", changes: new Map(said.flatMap((changes) => [...changes])) };
};

const lookOf = (reader: Reader, run: Run | undefined): Omit<TextRun, "text"> | null => {
  const changes = run?.changes;
  if (flagOf(changes, CHANGE.deleted) || flagOf(changes, CHANGE.hidden)) return null;
  const style = changes && numberOf(changes, CHANGE.charStyle);
  return {
    bold: flagOf(changes, CHANGE.bold),
    italic: flagOf(changes, CHANGE.italic),
    struck: flagOf(changes, CHANGE.struck),
    code: isCodeStyle(reader.styles[style ?? -1]?.name),
  };
};

/** Pieces of the text of one look each. */
function* looksBetween(reader: Reader, from: number, to: number): Generator<{ at: number; text: string; run?: Run }> {
  for (let at = from; at < to; ) {
    const { place, width, following } = reader.file.locate(at);
    const run = runAt(reader.looks, place);
    const length = run ? Math.ceil((run.to - place) / width) : 1;
    const end = Math.min(at + Math.max(Math.min(length, following), 1), to);
    yield { at, text: reader.file.text.slice(at, end), run };
    at = end;
  }
}

const ADDRESS = /^\s*HYPERLINK\s+"([^"]+)"/i;
// oxlint-disable-next-line no-control-regex
const CONTROL = /([\u0001-\u0008\u000B\u000E-\u001F])/;

const textRuns = (reader: Reader, from: number, to: number, fields: Field[]): TextRun[] => {
  const runs: TextRun[] = [];
  for (const { at, text, run } of looksBetween(reader, from, to)) {
    const look = lookOf(reader, run);
    let sign = at;
    for (const part of text.split(CONTROL)) {
      const field = fields.at(-1);
      if (part === "\u0013") fields.push({ address: "", shown: false });
      else if (part === "\u0014" && field) field.shown = true;
      else if (part === "\u0015") fields.pop();
      else if (field && !field.shown) field.address += part;
      else if (part === "\u0002") runs.push(...noteAt(reader, sign));
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

const noteAt = (reader: Reader, sign: number): TextRun[] => {
  const range = reader.marks.get(sign);
  if (!range) return [];
  reader.marks.delete(sign);
  const id = String(reader.notes.length + 1);
  const note = element(NOTE, [], { id });
  reader.notes.push(note);
  note.children = readRange(reader, range.from, range.to);
  return [{ text: "", note: id }];
};

/** The end of a paragraph, a cell or a section. */
// oxlint-disable-next-line no-control-regex
const END = /[\r\u0007\f]/g;

const readRange = (reader: Reader, from: number, to: number): ElementContent[] => {
  const { file } = reader;
  const body = flowBody();
  const fields: Field[] = [];
  for (let start = from; start < to; ) {
    END.lastIndex = start;
    const end = Math.min(END.exec(file.text)?.index ?? to, to);
    const runs = textRuns(reader, start, end, fields);
    const paragraph = runAt(reader.paragraphs, file.locate(Math.min(end, to - 1)).place);
    const { name, changes } = saidOf(reader, paragraph);
    start = end + 1;
    if (flagOf(changes, CHANGE.rowEnd)) {
      body.endRow(plansOf(changes), flagOf(changes, CHANGE.header));
      continue;
    }
    if (flagOf(changes, CHANGE.innerRowEnd)) continue;
    const inTable = flagOf(changes, CHANGE.inTable);
    const use = numberOf(changes, CHANGE.list) ?? 0;
    const level = numberOf(changes, CHANGE.level) ?? 0;
    const label = use > 0 ? (reader.numbered(use, level) ? "1." : "•") : "";
    const outline = numberOf(changes, CHANGE.outline) ?? null;
    const state = { style: 0, outline, inTable, list: use, level, left: 0, first: 0 };
    const meaning = meaningOf(state, name, label, runs);
    body.endParagraph(meaning && { ...meaning, runs }, inTable);
    if (inTable && file.text[end] === "\u0007") body.endCell();
  }
  return body.finish();
};

const marksOf = (
  file: DocFile,
  marks: number,
  texts: number,
  start: number,
): [number, { from: number; to: number }][] => {
  const places = placesIn(file.table(texts), 0);
  if (places.some((place, index) => place < (places[index - 1] ?? 0))) return [];
  return placesIn(file.table(marks), 2)
    .slice(0, -1)
    .map((sign, index) => [sign, { from: start + (places[index] ?? 0), to: start + (places[index + 1] ?? 0) }]);
};

/** The text of a Word document as blocks of HTML, what its text boxes say and its notes at the end. */
export const readDocBlocks = (file: DocFile): ElementContent[] => {
  const { body, footnotes, headers, comments, endnotes, boxes } = file.lengths;
  const endnotesFrom = body + footnotes + headers + comments;
  const reader: Reader = {
    file,
    paragraphs: readRuns(file, "paragraphs"),
    looks: readRuns(file, "looks"),
    styles: readDocStyles(file),
    numbered: readDocLists(file),
    marks: new Map([
      ...marksOf(file, tables.footnoteMarks, tables.footnotes, body),
      ...marksOf(file, tables.endnoteMarks, tables.endnotes, endnotesFrom),
    ]),
    notes: [],
  };
  const boxesFrom = endnotesFrom + endnotes;
  return [...readRange(reader, 0, body), ...readRange(reader, boxesFrom, boxesFrom + boxes), ...reader.notes];
};
