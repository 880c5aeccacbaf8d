import { parseXml } from "../guard/xml.ts";
import { UnreadableFile } from "../reader.ts";
import { escapePlain } from "../text/plain.ts";

/* Hints that Excel shows beside a selected cell about the values that belong in it ("input message" of a data validation). */

/** Maximum messages of a sheet that are read. */
export const MAX_MESSAGES = 1_000;
/** Maximum UTF-16 units of a message, and of the names of its cells; Excel allows 255. */
const MAX_LENGTH = 1_000;

const VALIDATION = /<(?:\w+:)?dataValidation((?:\s+[\w:]+\s*=\s*(?:"[^"]*"|'[^']*'))+)\s*\/?>/g;
/** Excel 2010 names the cells in an element after the formulas. */
const CELLS = /<xm:sqref>([^<]*)</;
const MAX_FORMULAS = 20_000;

/** Attributes by name, with entities resolved; empty if they are damaged. */
export const readAttributes = (source: string): Record<string, string> => {
  try {
    return parseXml(`<a ${source}/>`).attributes;
  } catch (error) {
    if (error instanceof UnreadableFile) return {};
    throw error;
  }
};

const oneLine = (text: string): string =>
  text
    .replace(/_x000[ad]_/gi, " ")
    .replace(/\s+/g, " ")
    .trim()
    .slice(0, MAX_LENGTH);

/** `B2:B9 (Amount): In euros, without tax`. */
export const messageLine = (cells: string, title: string, message: string): string => {
  const name = [oneLine(cells), title === "" ? "" : `(${oneLine(title)})`].filter(Boolean).join(" ");
  return message === "" ? name : `${name}: ${oneLine(message)}`;
};

/** Messages as a list below their sheet; "" if there are none. */
export const messageList = (lines: readonly string[]): string =>
  lines.length === 0 ? "" : ["Input messages:", "", ...lines.map((one) => `- ${escapePlain(one)}`)].join("\n");

/** The input messages in the XML of a sheet, as a list below the sheet; "" if there are none. */
export const inputMessages = (xml: string): string => {
  // a sheet without any has no such attribute
  if (!/\bprompt(?:Title)?\s*=/.test(xml)) return "";
  const lines = new Set<string>();
  for (const { 0: tag, 1: source = "", index } of xml.matchAll(VALIDATION)) {
    if (lines.size >= MAX_MESSAGES || !source.includes("prompt")) continue;
    const { prompt = "", promptTitle = "", sqref, showInputMessage = "0" } = readAttributes(source);
    const after = index + tag.length;
    const cells = sqref ?? CELLS.exec(xml.slice(after, after + MAX_FORMULAS))?.[1] ?? "";
    const [title, message] = [oneLine(promptTitle), oneLine(prompt)];
    if (/^(?:1|true)$/.test(showInputMessage) && title + message !== "") lines.add(messageLine(cells, title, message));
  }
  return messageList([...lines]);
};
