import { CFB } from "@e965/xlsx";

/* Files as Outlook saves them ([MS-OXMSG]). */

/** Properties by their number: a text, bytes, a number, or a date. */
export interface OutlookParts {
  properties: Record<number, string | Buffer | number | Date>;
  persons?: OutlookParts[];
  attachments?: OutlookParts[];
  /** The message that an attachment is. */
  message?: OutlookParts;
}

/** Where the properties begin, and the types of those of fixed length. */
const HEADERS = { file: 32, message: 24, part: 8 };
const [NUMBER, DATE] = [0x0003, 0x0040];

const hex = (property: string): string => Number(property).toString(16).toUpperCase().padStart(4, "0");

const fixed = (property: string, value: number | Date): Buffer => {
  const entry = Buffer.alloc(16);
  entry.writeUInt16LE(typeof value === "number" ? NUMBER : DATE, 0);
  entry.writeUInt16LE(Number(property), 2);
  if (typeof value === "number") entry.writeUInt32LE(value, 8);
  else entry.writeBigUInt64LE((BigInt(value.getTime()) + 11_644_473_600_000n) * 10_000n, 8);
  return entry;
};

/** Adds an item. `bytes`: its texts have one byte for each letter, as older programs write them. */
function addItem(container: object, folder: string, item: OutlookParts, header: number, bytes: boolean): void {
  const entries: Buffer[] = [Buffer.alloc(header)];
  const add = (name: string, content: Buffer): void => void CFB.utils.cfb_add(container, `${folder}${name}`, content);
  for (const [property, value] of Object.entries(item.properties)) {
    const name = `__substg1.0_${hex(property)}`;
    if (typeof value === "string")
      add(name + (bytes ? "001E" : "001F"), Buffer.from(value, bytes ? "latin1" : "utf16le"));
    else if (Buffer.isBuffer(value)) add(`${name}0102`, value);
    else entries.push(fixed(property, value));
  }
  add("__properties_version1.0", Buffer.concat(entries));
  for (const [kind, parts] of [
    ["recip", item.persons ?? []],
    ["attach", item.attachments ?? []],
  ] as const)
    for (const [index, part] of parts.entries())
      addItem(
        container,
        `${folder}__${kind}_version1.0_#${String(index).padStart(8, "0")}/`,
        part,
        HEADERS.part,
        bytes,
      );
  if (item.message) addItem(container, `${folder}__substg1.0_3701000D/`, item.message, HEADERS.message, bytes);
}

/** A file of Outlook. `named`: the numbers of properties that have a number as their name. `bytes`: its texts have one byte for each letter. */
export function outlookFile(item: OutlookParts, { named = [] as number[], bytes = false } = {}): Buffer<ArrayBuffer> {
  const container = CFB.utils.cfb_new() as object;
  const names = Buffer.alloc(8 * named.length);
  for (const [index, name] of named.entries()) {
    names.writeUInt32LE(name, 8 * index);
    names.writeUInt16LE(index, 8 * index + 6);
  }
  CFB.utils.cfb_add(container, "/__nameid_version1.0/__substg1.0_00030102", names);
  addItem(container, "/", item, HEADERS.file, bytes);
  return Buffer.from(CFB.write(container, { type: "buffer" }) as Uint8Array);
}
