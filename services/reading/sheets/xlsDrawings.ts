import { CFB } from "@e965/xlsx";
import { element } from "../html/tree.ts";
import { toMarkdown } from "../html/toMarkdown.ts";
import type { Warn } from "../reader.ts";
import { warnOfCount } from "../warnings.ts";
import { textWithoutFields } from "./pageHeaders.ts";

/* What the spreadsheet library does not read of the binary format of Excel 97 to 2003 ([MS-XLS]): drawings, headers and footers. */

const BOF = 0x0809;
const EOF = 0x0a;
const ENCRYPTED = 0x2f;
const SHEET_NAME = 0x85;
const HEADER = 0x14;
const FOOTER = 0x15;
const OBJECT = 0x5d;
const OBJECT_TEXT = 0x1b6;
const CONTINUE = 0x3c;
const CHART_TEXT = 0x100d;

/** The version in a BOF from Excel 97 on; before, texts have another form. */
const EXCEL_97 = 0x0600;
/** Kinds of objects. */
const PICTURE = 8;
const COMMENT = 25;

interface ExcelRecord {
  type: number;
  data: Buffer;
  at: number;
}

function* recordsIn(stream: Buffer): Generator<ExcelRecord> {
  for (let at = 0; at + 4 <= stream.length; ) {
    const end = at + 4 + stream.readUInt16LE(at + 2);
    if (end > stream.length) return;
    yield { type: stream.readUInt16LE(at), data: stream.subarray(at + 4, end), at };
    at = end;
  }
}

/** A number in a record; 0 in one that is too short. */
const word = (data: Buffer, at: number): number => (at + 2 <= data.length ? data.readUInt16LE(at) : 0);

/** At most `length` characters, after a byte with their width. */
const characters = (data: Buffer, length: number): string =>
  data
    .subarray(1)
    .toString(((data[0] ?? 0) & 1) === 1 ? "utf16le" : "latin1")
    .slice(0, length);

class WorkbookScan {
  /** By the position of their sheet in the stream. */
  private readonly names = new Map<number, string>();
  private depth = 0;
  private sheet = "";
  private kind = 0;
  /** Characters of the current text that the next records have. */
  private missing = 0;
  private text = "";
  readonly drawn = new Map<string, Set<string>>();
  readonly headers: string[] = [];
  pictures = 0;

  /** False when nothing of the rest can be read. */
  take({ type, data, at }: ExcelRecord): boolean {
    if (type !== CONTINUE) this.missing = 0;
    if (type === BOF) {
      if (word(data, 0) !== EXCEL_97) return false;
      if (this.depth++ === 0) this.sheet = this.names.get(at) ?? "";
    } else if (type === EOF) this.depth -= 1;
    else if (type === ENCRYPTED) return false;
    else if (type === SHEET_NAME && data.length > 7)
      this.names.set(data.readUInt32LE(0), characters(data.subarray(7), data[6] ?? 0));
    else if (type === HEADER || type === FOOTER)
      this.headers.push(textWithoutFields(characters(data.subarray(2), word(data, 0))));
    else this.takeObject(type, data);
    return true;
  }

  private takeObject(type: number, data: Buffer): void {
    if (type === OBJECT) {
      this.kind = word(data, 4);
      if (this.kind === PICTURE) this.pictures += 1;
    } else if (type === OBJECT_TEXT) {
      // comments are read with the cells
      this.missing = this.kind === COMMENT ? 0 : word(data, 10);
      this.text = "";
    } else if (type === CHART_TEXT) this.add(characters(data.subarray(3), data[2] ?? 0));
    else if (type === CONTINUE && this.missing > 0) {
      const part = characters(data, this.missing);
      this.text += part;
      this.missing -= part.length;
      if (this.missing === 0) for (const line of this.text.split(/[\r\n]+/)) this.add(line);
    }
  }

  private add(text: string): void {
    if (text.trim() === "") return;
    const texts = this.drawn.get(this.sheet) ?? new Set();
    this.drawn.set(this.sheet, texts.add(text.trim()));
  }
}

/** The folder of an embedded file. */
const EMBEDDED = /\/MBD[0-9A-F]{8}\/$/i;

interface Container {
  FullPaths: string[];
}

export interface XlsDrawings {
  /** The texts of the boxes and shapes of a sheet, and the titles in its charts, by the sheet's name; "" without any. */
  drawnOn(sheet: string): string;
  headers: string[];
}

const openContainer = (bytes: Uint8Array): Container | undefined => {
  try {
    return CFB.read(Buffer.from(bytes), { type: "buffer" }) as Container;
  } catch {
    // the spreadsheet library has read what it could of the damaged file
    return undefined;
  }
};

/** Reads the drawings on the sheets of an XLS, which files before Excel 97 do not have. The values of charts are in cells. */
export const openXlsDrawings = (bytes: Uint8Array, warn: Warn): XlsDrawings => {
  const container = openContainer(bytes);
  const found = container && (CFB.find(container, "/Workbook") as { content?: Uint8Array } | null);
  const scan = new WorkbookScan();
  for (const record of recordsIn(Buffer.from(found?.content ?? []))) if (!scan.take(record)) break;
  const embedded = (container?.FullPaths ?? []).filter((path) => EMBEDDED.test(path)).length;
  warnOfCount(warn, "embedded_files_left_out", embedded);
  // an embedded file is shown as a picture
  warnOfCount(warn, "images_without_text", scan.pictures - embedded);
  return {
    headers: scan.headers,
    drawnOn: (sheet) =>
      toMarkdown({ type: "root", children: [...(scan.drawn.get(sheet) ?? [])].map((text) => element("p", [text])) }),
  };
};
