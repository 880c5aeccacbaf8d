import type { ElementContent } from "hast";
import { NOTE } from "../html/notes.ts";
import { element } from "../html/tree.ts";
import { type DocFile, placesIn, tables } from "./docFile.ts";
import { type Changes, flagOf, numberOf, readRuns, type Run, runAt } from "./docProperties.ts";
import { readDocLists } from "./docLists.ts";
import { readDocStyles, styleChain } from "./docStyles.ts";
import type { CellPlan } from "./edgeTable.ts";
import { type DocSigns, type Field, textRuns } from "./docRuns.ts";
import type { Run as TextRun } from "./flow.ts";
import { flowBody } from "./flowBody.ts";
import { hasMeaning, meaningOf } from "./meaning.ts";

const CHANGE = {
  inTable: 0x2416,
  rowEnd: 0x2417,
  innerRowEnd: 0x244c,
  header: 0x3404,
  columns: 0xd608,
  list: 0x460b,
  level: 0x260a,
  outline: 0x2640,
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

interface Reader extends DocSigns {
  paragraphs: Run[];
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

const readRange = (reader: Reader, from: number, claimed: number): ElementContent[] => {
  const { file } = reader;
  const to = Math.min(claimed, file.text.length);
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
    noteAt: (sign) => noteAt(reader, sign),
  };
  const boxesFrom = endnotesFrom + endnotes;
  return [...readRange(reader, 0, body), ...readRange(reader, boxesFrom, boxesFrom + boxes), ...reader.notes];
};
