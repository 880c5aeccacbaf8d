import type { ElementContent } from "hast";
import { NOTE } from "../html/notes.ts";
import { element } from "../html/tree.ts";
import { type DocFile, findRange, readPositions, tables } from "./docFile.ts";
import { type Modifiers, readFlag, readNumber, readFormatRuns, type FormatRun } from "./docProperties.ts";
import { readDocLists } from "./docLists.ts";
import { readDocStyles, styleChain } from "./docStyles.ts";
import type { CellPlan } from "./edgeTable.ts";
import { type DocSource, type Field, textRuns } from "./docRuns.ts";
import type { TextRun } from "./paragraphs.ts";
import { createBlockCollector } from "./blockCollector.ts";
import { classifyParagraph, hasRole, withLabel } from "./paragraphRole.ts";

const MODIFIER = {
  inTable: 0x2416,
  rowEnd: 0x2417,
  innerCellEnd: 0x244b,
  innerRowEnd: 0x244c,
  depth: 0x6649,
  header: 0x3404,
  columns: 0xd608,
  list: 0x460b,
  level: 0x260a,
  outline: 0x2640,
};

/** Bytes of a cell's description after the edges; its first word says how the cell is merged. */
const CELL_SIZE = 20;

const readCellPlans = (modifiers: Modifiers): CellPlan[] => {
  const columns = modifiers.get(MODIFIER.columns);
  if (!columns || columns.length === 0) return [];
  const count = columns.readUInt8(0);
  return Array.from({ length: count }, (_, at) => {
    const offset = 1 + (count + 1) * 2 + at * CELL_SIZE;
    const merging = offset + 2 <= columns.length ? columns.readUInt16LE(offset) : 0;
    return {
      edge: columns.readInt16LE(1 + (at + 1) * 2),
      mergesLeft: (merging & 2) !== 0,
      mergesUp: (merging & 0x60) === 0x20,
    };
  });
};

interface DocReader extends DocSource {
  paragraphs: FormatRun[];
  /** The label of the list's next paragraph; "" for bullets. `follows`: the paragraph before it is an item, too. */
  nextLabel(list: number, level: number, follows: boolean): string;
  /** The text ranges of notes, by the character that refers to the note. */
  noteRanges: Map<number, { from: number; to: number }>;
  notes: ElementContent[];
}

/** The name of a paragraph's style, and the modifiers of its style chain and of the paragraph. */
const resolveStyle = (reader: DocReader, run: FormatRun | undefined): { name: string; modifiers: Modifiers } => {
  const chain = styleChain(reader.styles, run?.style ?? 0);
  const named = chain.find(({ name }) => hasRole(name)) ?? chain[0];
  const all = [...chain.toReversed().map(({ modifiers }) => modifiers), run?.modifiers ?? new Map()];
  return { name: named?.name ?? "", modifiers: new Map(all.flatMap((modifiers) => [...modifiers])) };
};

const addNote = (reader: DocReader, character: number): TextRun[] => {
  const range = reader.noteRanges.get(character);
  if (!range) return [];
  reader.noteRanges.delete(character);
  const id = String(reader.notes.length + 1);
  const note = element(NOTE, [], { id });
  reader.notes.push(note);
  note.children = readRange(reader, range.from, range.to);
  return [{ text: "", note: id }];
};

/** Tables around a paragraph. */
const tableDepth = (modifiers: Modifiers): number =>
  Math.max(readNumber(modifiers, MODIFIER.depth) ?? 0, readFlag(modifiers, MODIFIER.inTable) ? 1 : 0);

/** Cells of nested tables end like paragraphs. */
const endsCell = (depth: number, modifiers: Modifiers, sign: string | undefined): boolean =>
  depth > 1 ? readFlag(modifiers, MODIFIER.innerCellEnd) : depth === 1 && sign === "\u0007";

/** Ends a paragraph, a cell or a section. */
// oxlint-disable-next-line no-control-regex
const BLOCK_END = /[\r\u0007\f]/g;

const readRange = (reader: DocReader, from: number, until: number): ElementContent[] => {
  const { file } = reader;
  const to = Math.min(until, file.text.length);
  const body = createBlockCollector();
  const fields: Field[] = [];
  let isAfterItem = false;
  for (let start = from; start < to; ) {
    BLOCK_END.lastIndex = start;
    const end = Math.min(BLOCK_END.exec(file.text)?.index ?? to, to);
    const runs = textRuns(reader, start, end, fields);
    const paragraph = findRange(reader.paragraphs, file.locate(Math.min(end, to - 1)).offset);
    const { name, modifiers } = resolveStyle(reader, paragraph);
    start = end + 1;
    const depth = tableDepth(modifiers);
    if (readFlag(modifiers, MODIFIER.rowEnd) || readFlag(modifiers, MODIFIER.innerRowEnd)) {
      body.endRow(readCellPlans(modifiers), readFlag(modifiers, MODIFIER.header), depth);
      isAfterItem = false;
      continue;
    }
    const list = readNumber(modifiers, MODIFIER.list) ?? 0;
    const level = readNumber(modifiers, MODIFIER.level) ?? 0;
    const counted = list > 0 ? reader.nextLabel(list, level, isAfterItem) || "•" : "";
    isAfterItem = list > 0;
    const label = runs.length > 0 ? counted : "";
    const outline = readNumber(modifiers, MODIFIER.outline) ?? null;
    const state = { style: 0, outline, inTable: depth > 0, depth, list, level, left: 0, first: 0 };
    const role = classifyParagraph(state, name, label, runs);
    body.endParagraph(role && withLabel(role, label, runs, true), depth);
    if (endsCell(depth, modifiers, file.text[end])) {
      body.endCell(depth);
      isAfterItem = false;
    }
  }
  return body.finish();
};

const readNoteRanges = (
  file: DocFile,
  marks: number,
  texts: number,
  start: number,
): [number, { from: number; to: number }][] => {
  const positions = readPositions(file.table(texts), 0);
  if (positions.some((position, index) => position < (positions[index - 1] ?? 0))) return [];
  return readPositions(file.table(marks), 2)
    .slice(0, -1)
    .map((character, index) => [
      character,
      { from: start + (positions[index] ?? 0), to: start + (positions[index + 1] ?? 0) },
    ]);
};

/** The text of a Word document as HTML blocks, with its text boxes and notes at the end. */
export const readDocBlocks = (file: DocFile): ElementContent[] => {
  const { body, footnotes, headers, comments, endnotes, boxes } = file.lengths;
  const endnotesFrom = body + footnotes + headers + comments;
  const reader: DocReader = {
    file,
    paragraphs: readFormatRuns(file, "paragraphFormats"),
    characterFormats: readFormatRuns(file, "characterFormats"),
    styles: readDocStyles(file),
    nextLabel: readDocLists(file),
    noteRanges: new Map([
      ...readNoteRanges(file, tables.footnoteMarks, tables.footnotes, body),
      ...readNoteRanges(file, tables.endnoteMarks, tables.endnotes, endnotesFrom),
    ]),
    notes: [],
    noteAt: (character) => addNote(reader, character),
  };
  const boxesFrom = endnotesFrom + endnotes;
  return [...readRange(reader, 0, body), ...readRange(reader, boxesFrom, boxesFrom + boxes), ...reader.notes];
};
