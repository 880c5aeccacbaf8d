import { escapePlain } from "../text/plain.ts";
import { markdownTable } from "../text/table.ts";
import { splitBlocks, usedColumns, type Block, type Cell, type Row } from "./blocks.ts";
import { withLink } from "./cellLink.ts";

/** A single column with a longer text (in UTF-16 units) is notes rather than a list. */
const MIN_NOTE_LENGTH = 60;

/** The cells of a row, once per merged area. */
const distinctCells = ({ cells }: Row): Cell[] =>
  cells.filter(({ area }, at) => area === null || cells[at - 1]?.area !== area);

/** A row with a single text: a title above a table, or a note below. */
const isLine = (row: Row, width: number): boolean =>
  distinctCells(row).length === 1 && (width > 2 || row.cells.length > 1) && row.cells[0]!.isText;

const paragraphs = (rows: Row[]): string[] =>
  rows.map((row) => escapePlain(distinctCells(row).map(withLink).join(" ")));

const YEAR = /^(?:19|20)\d\d$/;

const isAllNames = ({ cells }: Row): boolean =>
  cells.every(({ isText, area, text }) => isText || area !== null || YEAR.test(text));

/** Whether an upper name is only above the first of its columns; the names below it repeat for each upper name. */
const isSpread = (upper: Row, lower: Row): boolean => {
  const [, ...below] = lower.cells.map(({ text }) => text);
  return (
    upper.cells.length > 1 &&
    upper.cells.every(({ area }) => area === null) &&
    upper.cells[0]!.column > lower.cells[0]!.column &&
    below.length === upper.cells.length * new Set(below).size &&
    new Set(below).size > 1
  );
};

/** Whether the header has two rows, the upper one with names over several columns. */
const isStacked = ([first, second, third]: Block): boolean => {
  if (!first || !second || !third || !isAllNames(first) || !isAllNames(second)) return false;
  const merged = first.cells.some(({ area }, at) => area !== null && first.cells[at - 1]?.area === area);
  return merged || isSpread(first, second);
};

const rowTexts = (row: Row, columns: number[]): string[] => {
  const texts = new Map(row.cells.map((cell) => [cell.column, withLink(cell)]));
  return columns.map((column) => texts.get(column) ?? "");
};

/** The names of the upper header row above each column. */
const upperTexts = (upper: Row, lower: Row, columns: number[]): string[] =>
  isSpread(upper, lower)
    ? columns.map((column) => upper.cells.findLast((cell) => cell.column <= column)?.text ?? "")
    : rowTexts(upper, columns);

const stackedHeader = (first: string[], second: string[]): string[] =>
  first.map((upper, at) => [...new Set([upper, second[at]])].filter(Boolean).join(" / "));

function* tableRows(block: Block, columns: number[]): Generator<string[]> {
  let rest = block;
  if (isStacked(block)) {
    const [upper, lower] = [block[0]!, block[1]!];
    yield stackedHeader(upperTexts(upper, lower, columns), rowTexts(lower, columns));
    rest = block.slice(2);
  }
  for (const row of rest) yield rowTexts(row, columns);
}

const toTable = (block: Block): string[] => {
  if (block.length === 0) return [];
  const columns = usedColumns(block);
  const isNotes =
    columns.length === 1 && (block.length === 1 || block.some(({ cells }) => cells[0]!.text.length > MIN_NOTE_LENGTH));
  return isNotes ? paragraphs(block) : [markdownTable(tableRows(block, columns), columns.length)];
};

/** The titles, the table and the notes of a block. */
const blockParts = (block: Block): string[] => {
  const width = usedColumns(block).length;
  const top = block.findIndex((row) => !isLine(row, width));
  if (top === -1) return paragraphs(block);
  const bottom = block.findLastIndex((row) => !isLine(row, width)) + 1;
  return [...paragraphs(block.slice(0, top)), ...toTable(block.slice(top, bottom)), ...paragraphs(block.slice(bottom))];
};

/** The content of a sheet under its name; "" for an empty sheet. */
export const withSheetName = (name: string, parts: string[]): string => {
  const filled = parts.filter(Boolean);
  return filled.length === 0 ? "" : [`## ${name.trim()}`, ...filled].join("\n\n");
};

/** The tables and notes of a sheet. */
export const sheetParts = (sheet: Block): string[] => splitBlocks(sheet).flatMap(blockParts);
