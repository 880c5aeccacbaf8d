import { escapePlain } from "../text/plain.ts";
import { markdownTable } from "../text/table.ts";
import { blocksOf, columnsOf, type Block, type Row } from "./grid.ts";

/** Longer texts in a single column are notes rather than a list. */
const NOTE = 60;

/** The texts of a row, each merged area once. */
const textsOf = ({ cells }: Row): string[] =>
  cells.filter(({ area }, at) => area === null || cells[at - 1]?.area !== area).map(({ text }) => text);

/** One text in a row that could hold many: a title above a table, or a note below. */
const isLine = (row: Row, width: number): boolean =>
  textsOf(row).length === 1 && (width > 2 || row.cells.length > 1) && row.cells[0]!.isText;

const paragraphs = (rows: Row[]): string[] => rows.map((row) => escapePlain(textsOf(row).join(" ")));

const isNames = ({ cells }: Row): boolean => cells.every(({ isText, area }) => isText || area !== null);

/** Headers of two rows, the upper over several columns: both names stand above each column. */
const isStacked = ([first, second, third]: Block): boolean => {
  if (!first || !second || !third || !isNames(first) || !isNames(second)) return false;
  return first.cells.some(({ area }, at) => area !== null && first.cells[at - 1]?.area === area);
};

const rowTexts = (row: Row, columns: number[]): string[] => {
  const texts = new Map(row.cells.map(({ column, text }) => [column, text]));
  return columns.map((column) => texts.get(column) ?? "");
};

const stackedHeader = (first: string[], second: string[]): string[] =>
  first.map((upper, at) => [...new Set([upper, second[at]])].filter(Boolean).join(" / "));

function* rowsOf(block: Block, columns: number[]): Generator<string[]> {
  let rest = block;
  if (isStacked(block)) {
    yield stackedHeader(rowTexts(block[0]!, columns), rowTexts(block[1]!, columns));
    rest = block.slice(2);
  }
  for (const row of rest) yield rowTexts(row, columns);
}

const tableOf = (block: Block): string[] => {
  if (block.length === 0) return [];
  const columns = columnsOf(block);
  const isNotes =
    columns.length === 1 && (block.length === 1 || block.some(({ cells }) => cells[0]!.text.length > NOTE));
  return isNotes ? paragraphs(block) : [markdownTable(rowsOf(block, columns), columns.length)];
};

/** Titles, a table, notes. */
const blockParts = (block: Block): string[] => {
  const width = columnsOf(block).length;
  const top = block.findIndex((row) => !isLine(row, width));
  if (top === -1) return paragraphs(block);
  const bottom = block.findLastIndex((row) => !isLine(row, width)) + 1;
  return [...paragraphs(block.slice(0, top)), ...tableOf(block.slice(top, bottom)), ...paragraphs(block.slice(bottom))];
};

/** What a sheet holds under its name; empty when it holds nothing. */
export const underName = (name: string, parts: string[]): string => {
  const filled = parts.filter(Boolean);
  return filled.length === 0 ? "" : [`## ${name.trim()}`, ...filled].join("\n\n");
};

/** The tables and notes of a sheet under its name. Empty for an empty sheet. */
export const sheetMarkdown = (name: string, sheet: Block): string =>
  underName(name, blocksOf(sheet).flatMap(blockParts));
