import { CFB } from "@e965/xlsx";
import { UnreadableFile } from "../reader.ts";
import { decodeBytes, codePageEncoding } from "./rtfCharset.ts";
import { utf16 } from "./docFile.ts";

/* Files of Outlook ([MS-OXMSG]): folders of a compound file, each with properties by number. */

/** A message, a recipient, or an attachment. */
export interface OutlookItem {
  /** A text property; "" without one. */
  text(property: number): string;
  /** A binary property. */
  binary(property: number): Buffer | undefined;
  /** A number or a truth value. */
  number(property: number): number | undefined;
  date(property: number): Date | undefined;
  /** The recipients and the attachments of a message. */
  persons: readonly OutlookItem[];
  attachments: readonly OutlookItem[];
  /** The attached message. */
  message?: OutlookItem;
  /** The number of a property with a numeric name ([MS-OXPROPS]), such as an appointment's; undefined if the file has none. */
  named(name: number): number | undefined;
}

type Streams = ReadonlyMap<string, Buffer>;

const UNICODE = "001F";
const BYTES = "001E";
const BINARY = "0102";
const FILETIME = 0x0040;
const CODE_PAGE = 0x3ffd;
const LOCALE = 0x3ff1;

/** Windows code pages by language, the low bits of a locale. Other languages use the Western European one. */
const LANGUAGE_PAGES: Record<number, number> = {
  0x01: 1256,
  0x05: 1250,
  0x08: 1253,
  0x0d: 1255,
  0x0e: 1250,
  0x11: 932,
  0x12: 949,
  0x15: 1250,
  0x18: 1250,
  0x19: 1251,
  0x1e: 874,
  0x1f: 1254,
  0x22: 1251,
};
/** Chinese has two encodings. */
const LOCALE_PAGES: Record<number, number> = { 0x0804: 936, 0x1004: 936, 0x0404: 950, 0x0c04: 950, 0x1404: 950 };

const pageOfLocale = (locale: number): number | undefined => LOCALE_PAGES[locale] ?? LANGUAGE_PAGES[locale & 0x3ff];

/** Maximum nesting of messages. */
const MAX_DEPTH = 5;

/** Header bytes before the properties, for the file's message, a nested message, and a recipient or attachment. */
const HEADERS = { file: 32, message: 24, part: 8 };

const hex = (number: number): string => number.toString(16).toUpperCase().padStart(4, "0");

/** The fixed-length properties, by their number. */
const fixedProperties = (stream: Buffer | undefined, header: number): Map<number, { type: number; value: Buffer }> => {
  const found = new Map<number, { type: number; value: Buffer }>();
  for (let at = header; stream && at + 16 <= stream.length; at += 16)
    found.set(stream.readUInt16LE(at + 2), { type: stream.readUInt16LE(at), value: stream.subarray(at + 8, at + 16) });
  return found;
};

/** Milliseconds from 1601, where file times begin, to 1970. */
const EPOCH = 11_644_473_600_000n;

export const toDate = (value: Buffer): Date | undefined => {
  const date = new Date(Number(value.readBigUInt64LE(0) / 10_000n - EPOCH));
  return Number.isNaN(date.getTime()) ? undefined : date;
};

/** The numbers of the properties with numeric names. */
const namedProperties = (names: Buffer | undefined): Map<number, number> => {
  const found = new Map<number, number>();
  for (let at = 0; names && at + 8 <= names.length; at += 8) {
    const isText = (names.readUInt16LE(at + 4) & 1) === 1;
    if (!isText) found.set(names.readUInt32LE(at), 0x8000 + names.readUInt16LE(at + 6));
  }
  return found;
};

interface Opening {
  streams: Streams;
  /** The names in each folder. */
  folders: ReadonlyMap<string, string[]>;
  names: ReadonlyMap<number, number>;
}

function openItem(opening: Opening, folder: string, header: number, codePage: number, depth: number): OutlookItem {
  const { streams, folders, names } = opening;
  const fixed = fixedProperties(streams.get(`${folder}__properties_version1.0`), header);
  const stream = (property: number, type: string) => streams.get(`${folder}__substg1.0_${hex(property)}${type}`);
  const number = (property: number): number | undefined => fixed.get(property)?.value.readUInt32LE(0);
  const ownCodePage = number(CODE_PAGE) ?? pageOfLocale(number(LOCALE) ?? 0) ?? codePage;
  const parts = (kind: string): OutlookItem[] =>
    (folders.get(folder) ?? [])
      .filter((name) => name.startsWith(`__${kind}_version1.0_#`))
      .map((name) => openItem(opening, `${folder}${name}/`, HEADERS.part, ownCodePage, depth));
  const inner = `${folder}__substg1.0_3701000D/`;
  const isMessage = header !== HEADERS.part;
  return {
    text(property) {
      const unicode = stream(property, UNICODE);
      if (unicode) return utf16.decode(unicode).replaceAll("\0", "");
      const bytes = stream(property, BYTES);
      return bytes ? decodeBytes(bytes.toString("latin1"), codePageEncoding(ownCodePage)).replaceAll("\0", "") : "";
    },
    binary: (property) => stream(property, BINARY),
    number,
    date(property) {
      const found = fixed.get(property);
      return found?.type === FILETIME ? toDate(found.value) : undefined;
    },
    persons: isMessage ? parts("recip") : [],
    attachments: isMessage ? parts("attach") : [],
    ...(!isMessage &&
      depth < MAX_DEPTH &&
      folders.has(inner) && { message: openItem(opening, inner, HEADERS.message, ownCodePage, depth + 1) }),
    named: (name) => names.get(name),
  };
}

/** The streams and folders of a compound file, by their paths without the root folder. */
function openFolders(bytes: Uint8Array): { streams: Streams; folders: Map<string, string[]> } {
  const container = CFB.read(Buffer.from(bytes), { type: "buffer" });
  const streams = new Map<string, Buffer>();
  const folders = new Map<string, string[]>();
  for (const [index, path] of container.FullPaths.entries()) {
    const own = path.slice(path.indexOf("/") + 1);
    const isFolder = own.endsWith("/");
    const at = own.slice(0, isFolder ? -1 : undefined).lastIndexOf("/") + 1;
    const [parent, name] = [own.slice(0, at), own.slice(at).replace(/\/$/, "")];
    const content = container.FileIndex[index]?.content ?? [];
    // attachments may be large, so nothing is copied unnecessarily
    if (!isFolder) streams.set(own, Buffer.isBuffer(content) ? content : Buffer.from(content));
    else if (name !== "") {
      const siblings = folders.get(parent) ?? [];
      siblings.push(name);
      folders.set(parent, siblings).set(own, folders.get(own) ?? []);
    }
  }
  return { streams, folders };
}

/** Opens an Outlook file. Throws UnreadableFile: damaged. */
export const openOutlookFile = (bytes: Uint8Array): OutlookItem => {
  try {
    const { streams, folders } = openFolders(bytes);
    if (!streams.has("__properties_version1.0")) throw new Error("It has no properties");
    const names = namedProperties(streams.get("__nameid_version1.0/__substg1.0_00030102"));
    return openItem({ streams, folders, names }, "", HEADERS.file, 1252, 0);
  } catch (cause) {
    throw new UnreadableFile("The file is damaged: it is not an e-mail of Outlook.", { cause });
  }
};
