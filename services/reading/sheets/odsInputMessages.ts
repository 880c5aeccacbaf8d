import { utils } from "@e965/xlsx";
import { childElements, findAll, findChild, parseXml, textContent } from "../guard/xml.ts";
import { UnreadableFile } from "../reader.ts";
import { MAX_MESSAGES, messageLine, messageList, readAttributes } from "./inputMessages.ts";

/* Input messages of an ODS: its validations have names, which the cells refer to. Its cells are not parsed, because a file has millions. */

interface Message {
  title: string;
  text: string;
}

const START = /<table:content-validations\b/;
const END = "</table:content-validations>";

/** The validations of a file; "" if it has none. Not one pattern, which would look for a missing end from each start. */
const validationsIn = (xml: string): string => {
  const from = xml.search(START);
  const to = from < 0 ? -1 : xml.indexOf(END, from);
  return to < 0 ? "" : xml.slice(from, to + END.length);
};

/** The messages that are shown, by the name of their validation; empty if they are damaged. */
const readMessages = (xml: string): Map<string, Message> => {
  const source = validationsIn(xml);
  if (!source.includes("<table:help-message")) return new Map();
  try {
    const listed = findAll(parseXml(source), "table:content-validation").flatMap((validation): [string, Message][] => {
      const help = findChild(validation, "table:help-message");
      if (help?.attributes["table:display"] !== "true") return [];
      const text = childElements(help).map(textContent).join(" ").trim();
      const title = (help.attributes["table:title"] ?? "").trim();
      return title + text === "" ? [] : [[validation.attributes["table:name"] ?? "", { title, text }]];
    });
    return new Map(listed.slice(0, MAX_MESSAGES));
  } catch (error) {
    if (error instanceof UnreadableFile) return new Map();
    throw error;
  }
};

/** Cells next to each other; rows and columns count from 0, and both ends are included. */
interface Area {
  from: number;
  to: number;
  rows: { from: number; to: number };
}

/** Maximum areas of a message that are named. */
const MAX_AREAS = 20;

const areaName = ({ from, to, rows }: Area): string =>
  utils.encode_range({ s: { r: rows.from, c: from }, e: { r: rows.to, c: to } });

const areaNames = (areas: readonly Area[]): string =>
  areas.slice(0, MAX_AREAS).map(areaName).join(" ") + (areas.length > MAX_AREAS ? " …" : "");

/** Adds cells of a row to the areas of a message, or to the area above them. Keeps one area more than are named, so that "…" is added. */
const addCells = (areas: Area[], cells: Area): void => {
  const above = areas.findLast(({ from, to }) => from === cells.from && to === cells.to);
  if (above && above.rows.to === cells.rows.from - 1) above.rows.to = cells.rows.to;
  else if (areas.length <= MAX_AREAS) areas.push(cells);
};

const TAG =
  /<table:(table|table-row|table-cell|covered-table-cell)((?:\s+[\w:.-]+\s*=\s*(?:"[^"]*"|'[^']*'))*)\s*\/?>/g;
const VALIDATION = /\btable:content-validation-name="([^"]*)"/;
const COLUMNS = /\btable:number-columns-repeated="(\d{1,9})"/;
const ROWS = /\btable:number-rows-repeated="(\d{1,9})"/;

const repeated = (pattern: RegExp, attributes: string): number =>
  Math.max(Number(pattern.exec(attributes)?.[1] ?? 1), 1);

/** The areas of each message, by the names of the sheet and of the validation. */
const findAreas = (xml: string, messages: ReadonlyMap<string, Message>): Map<string, Map<string, Area[]>> => {
  const sheets = new Map<string, Map<string, Area[]>>();
  let sheet = new Map<string, Area[]>();
  let [row, nextRow, column] = [0, 0, 0];
  for (const [, kind, attributes = ""] of xml.matchAll(TAG)) {
    if (kind === "table") {
      sheet = new Map();
      sheets.set(readAttributes(attributes)["table:name"] ?? "", sheet);
      nextRow = 0;
    } else if (kind === "table-row") {
      row = nextRow;
      nextRow += repeated(ROWS, attributes);
      column = 0;
    } else {
      const from = column;
      column += repeated(COLUMNS, attributes);
      const name = VALIDATION.exec(attributes)?.[1] ?? "";
      if (!messages.has(name)) continue;
      const areas = sheet.get(name) ?? [];
      addCells(areas, { from, to: column - 1, rows: { from: row, to: nextRow - 1 } });
      sheet.set(name, areas);
    }
  }
  return sheets;
};

/** Gives the input messages of the cells of a sheet of an ODS as a list, by the sheet's name; "" if there are none. */
export const openOdsInputMessages = (xml: string): ((sheet: string) => string) => {
  const messages = readMessages(xml);
  const sheets = messages.size === 0 ? new Map<string, Map<string, Area[]>>() : findAreas(xml, messages);
  return (sheet) =>
    messageList(
      [...(sheets.get(sheet) ?? new Map<string, Area[]>())].map(([name, areas]) =>
        messageLine(areaNames(areas), messages.get(name)?.title ?? "", messages.get(name)?.text ?? ""),
      ),
    );
};
