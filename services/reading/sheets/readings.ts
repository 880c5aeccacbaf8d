import { utils, type CellObject } from "@e965/xlsx";
import { parseXml, textContent } from "../guard/xml.ts";
import { UnreadableFile } from "../reader.ts";
import { childrenNamed } from "../slides/localNames.ts";

/*
 * Phonetic readings of East Asian words. Excel stores that of each typed word, and shows those of the cells that ask for it. The spreadsheet
 * library reads none in XLSX, and mixes them with the words in ODS.
 */

const CELL = /<(?:\w+:)?c\s([^<>]*\bph="(?:1|true)"[^<>]*)>(\s*<(?:\w+:)?is>)?/g;
const NAME = /\br="([A-Z]{1,3}\d{1,7})"/;
const INLINE_END = "is>";

/** Cells that show readings, by their names, with the XML of texts that are stored in the cell; others share theirs, which SheetJS gives. */
export type SpokenCells = ReadonlyMap<string, string>;

/** The cells that show readings, from the XML of a sheet. */
export const cellsWithReadings = (xml: string): SpokenCells =>
  new Map(
    Array.from(xml.matchAll(CELL), ({ 0: start, 1: attributes = "", 2: inline, index }): [string, string] => {
      const from = index + start.length;
      const end = inline === undefined ? -1 : xml.indexOf(INLINE_END, from);
      return [NAME.exec(attributes)?.[1] ?? "", end === -1 ? "" : xml.slice(from, xml.lastIndexOf("<", end))];
    }),
  );

/** Characters of a text, half open, and how they are spoken. */
interface Reading {
  from: number;
  to: number;
  spoken: string;
}

const readingsIn = (source: string): Reading[] => {
  try {
    return childrenNamed(parseXml(`<si>${source}</si>`), "rPh").map((run) => ({
      from: Number(run.attributes["sb"]),
      to: Number(run.attributes["eb"]),
      spoken: childrenNamed(run, "t").map(textContent).join("").trim(),
    }));
  } catch (error) {
    if (error instanceof UnreadableFile) return [];
    throw error;
  }
};

/** Readings in order; those of words without a gap between them are joined, so that a search finds the whole word. */
const joinReadings = (readings: readonly Reading[]): Reading[] => {
  const joined: Reading[] = [];
  for (const reading of readings.filter(({ spoken }) => spoken !== "")) {
    const last = joined.at(-1);
    if (last?.to === reading.from) Object.assign(last, { to: reading.to, spoken: last.spoken + reading.spoken });
    else if (reading.from >= (last?.to ?? 0)) joined.push(reading);
  }
  return joined;
};

const bracketed = (spoken: string): string => ` (${spoken})`;

const withReadings = (text: string, source: string): string => {
  let [written, at] = ["", 0];
  for (const { to, spoken } of joinReadings(readingsIn(source))) {
    written += text.slice(at, to) + bracketed(spoken);
    at = to;
  }
  return written + text.slice(at);
};

/** Puts readings in brackets behind their words, `漢字 (かんじ)`, in these cells. */
export const openReadings = (spoken: SpokenCells): ((cell: CellObject, r: number, c: number) => CellObject) => {
  // cells share their texts
  const texts = new Map<string, string>();
  return (cell, r, c) => {
    // naming every cell of a large sheet takes time
    if (spoken.size === 0 || cell.t !== "s") return cell;
    const inline = spoken.get(utils.encode_cell({ r, c }));
    const source: unknown = inline || (inline === "" && cell.r);
    if (typeof source !== "string" || !source.includes("rPh")) return cell;
    const text = texts.get(source) ?? withReadings(String(cell.v), source);
    texts.set(source, text);
    return { ...cell, v: text };
  };
};

const RUBY = /<(\/?)text:ruby(-base|-text)?(?:\s[^<>]*)?>/g;

/** The content of an ODS with its readings in brackets behind their words. */
export const bracketOdsReadings = (xml: string): string => {
  const kept: string[] = [];
  let [from, spoken] = [0, ""];
  const close = (): void => {
    if (spoken.trim() !== "") kept.push(bracketed(spoken.trim()));
    spoken = "";
  };
  for (const { 0: tag, 1: slash, 2: part, index } of xml.matchAll(RUBY)) {
    const text = xml.slice(from, index);
    from = index + tag.length;
    if (part === "-text" && slash === "/") spoken += text;
    else {
      // readings of words without a gap between them are joined
      if (part === undefined && slash === "" && text !== "") close();
      kept.push(text);
    }
  }
  close();
  return kept.join("") + xml.slice(from);
};
