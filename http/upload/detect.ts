import { fileTypeFromBuffer } from "file-type";
import { hasReader, typeOfExtension, types, usualType } from "#events/mediaTypes.ts";
import { ApiError } from "../errors.ts";
import { mediaType, OCTETS } from "../mediaType.ts";
import { isCompound, isZip, kindOfCompound, typeOfZip } from "./container.ts";
import { isText } from "./text.ts";

/** Signatures stand in the first bytes; what is longer would only give a hostile file more to play with. */
const LOOK = 4_100;

const OFFICE: readonly string[] = [types.docx, types.pptx, types.xlsx];
const ZIPPED: readonly string[] = [...OFFICE, types.odt, types.odp, types.ods, types.epub];
const COMPOUND: readonly string[] = [types.doc, types.xls];
const TEXTUAL: readonly string[] = [
  types.html,
  types.eml,
  types.csv,
  types.tsv,
  types.md,
  types.txt,
  types.json,
  types.xml,
];

interface Sent {
  bytes: Buffer;
  /** As the sender named it. */
  filename: string;
  /** As the sender declared it. */
  mimetype: string;
}

/** What a file is said to be, the declared type first; types without a reader are none. */
const saidTypes = ({ filename, mimetype }: Sent): string[] => {
  const declared = usualType(mediaType(mimetype));
  const named = typeOfExtension(filename);
  // every sender declares text/plain for text that it does not know
  const said = declared === types.txt ? [named, declared] : [declared, named];
  return said.filter((type): type is string => type !== undefined && hasReader(type));
};

/** An archive that does not tell, and a compound file, are what they are said to be, where that is their kind. */
function packedType(sent: Sent, said: string[]): string | undefined {
  if (isZip(sent.bytes)) return typeOfZip(sent.bytes) ?? said.find((type) => ZIPPED.includes(type));
  switch (kindOfCompound(sent.bytes)) {
    case "doc":
      return types.doc;
    case "xls":
      return types.xls;
    case "ppt":
      return undefined;
    case "encrypted":
      return said.find((type) => OFFICE.includes(type)) ?? types.docx;
    case undefined:
      return said.find((type) => OFFICE.includes(type) || COMPOUND.includes(type));
  }
}

const HTML = /^\s*<(!doctype\s+html|html)[\s>]/i;

/** Text is what it is said to be; where nothing is said, and the name has no ending, it is plain. */
function textType({ bytes, filename, mimetype }: Sent, said: string[]): string | undefined {
  const head = bytes.toString("latin1", 0, 1_000);
  if (/^(\u00ef\u00bb\u00bf)?%PDF-/.test(head)) return types.pdf;
  if (head.startsWith("{\\rtf")) return types.rtf;
  const textual = said.find((type) => TEXTUAL.includes(type));
  if (textual) return textual;
  if (said.length > 0) return said[0];
  if (mediaType(mimetype) !== OCTETS || /\.[^.\s]{1,10}$/.test(filename)) return undefined;
  return HTML.test(head) ? types.html : types.txt;
}

async function binaryType({ bytes }: Sent, said: string[]): Promise<string | undefined> {
  // a broken or unknown start is no signature; its reader says what is wrong with it
  const found = await fileTypeFromBuffer(bytes.subarray(0, LOOK)).catch(() => undefined);
  if (!found) return said.find((type) => !TEXTUAL.includes(type));
  const type = usualType(found.mime);
  return hasReader(type) ? type : undefined;
}

/**
 * The type of a file by its bytes, then by what it was declared to be, then by its ending. Throws 415
 * `unsupported_file_type` when nothing reads it. A file that lies about a type that is read ends as failed, with a reason.
 */
export async function detectType(sent: Sent): Promise<string> {
  const said = saidTypes(sent);
  const packed = isZip(sent.bytes) || isCompound(sent.bytes);
  const type = packed
    ? packedType(sent, said)
    : isText(sent.bytes)
      ? textType(sent, said)
      : await binaryType(sent, said);
  if (type) return type;
  throw new ApiError("unsupported_file_type", "Files of this type cannot be read.", { param: "file" });
}
