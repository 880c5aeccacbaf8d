import { fileTypeFromBuffer } from "file-type";
import { canonicalType, hasReader, isPicture, MEDIA_TYPES, typeFromFileName } from "#events/mediaTypes.ts";
import { ApiError } from "../base/errors.ts";
import { parseMediaType, OCTETS } from "../base/mediaType.ts";
import { detectCompoundKind, isCompound } from "./compoundFile.ts";
import { detectZipType, isZip } from "./containerTypes.ts";
import { isPdf, looksLikeText } from "./looksLikeText.ts";

/** Signatures are in the first bytes. More bytes would only give a hostile file more ways to waste time. */
const HEAD_BYTES = 4_100;

const OFFICE: readonly string[] = [MEDIA_TYPES.docx, MEDIA_TYPES.pptx, MEDIA_TYPES.xlsx];
const ZIPPED: readonly string[] = [...OFFICE, MEDIA_TYPES.odt, MEDIA_TYPES.odp, MEDIA_TYPES.ods, MEDIA_TYPES.epub];
const COMPOUND: readonly string[] = [MEDIA_TYPES.doc, MEDIA_TYPES.xls, MEDIA_TYPES.msg];
const TEXTUAL: readonly string[] = [
  MEDIA_TYPES.html,
  MEDIA_TYPES.eml,
  MEDIA_TYPES.csv,
  MEDIA_TYPES.tsv,
  MEDIA_TYPES.md,
  MEDIA_TYPES.txt,
  MEDIA_TYPES.json,
  MEDIA_TYPES.xml,
];

interface UploadedFile {
  bytes: Buffer;
  filename: string;
  /** The declared type; like the filename, unchecked. */
  mimetype: string;
}

interface DetectionOptions {
  /** Whether pictures are read. */
  pictures: boolean;
}

/** The types that the file claims to have and that a reader exists for: the declared one first, then that of its ending. */
const findClaimedTypes = ({ filename, mimetype }: UploadedFile, { pictures }: DetectionOptions): string[] => {
  const declared = canonicalType(parseMediaType(mimetype));
  const named = typeFromFileName(filename);
  // senders declare text/plain for any text that they do not know
  const claimed = declared === MEDIA_TYPES.txt ? [named, declared] : [declared, named];
  return claimed.filter((type): type is string => type !== undefined && hasReader(type, pictures));
};

const refusal = (message: string): ApiError => new ApiError("unsupported_file_type", message, { param: "file" });

/** An archive or compound file without a known type has its claimed type, if that is an archive or compound type. */
function packedType(sent: UploadedFile, claimed: string[]): string | undefined {
  if (isZip(sent.bytes)) return detectZipType(sent.bytes) ?? claimed.find((type) => ZIPPED.includes(type));
  switch (detectCompoundKind(sent.bytes)) {
    case "doc":
      return MEDIA_TYPES.doc;
    case "xls":
      return MEDIA_TYPES.xls;
    case "msg":
      return MEDIA_TYPES.msg;
    case "ppt":
      throw refusal("Presentations of PowerPoint 97 to 2003 cannot be read. Save it as .pptx and upload that.");
    case "encrypted":
      return claimed.find((type) => OFFICE.includes(type)) ?? MEDIA_TYPES.docx;
    case undefined:
      return claimed.find((type) => OFFICE.includes(type) || COMPOUND.includes(type));
  }
}

const HTML = /^\s*<(!doctype\s+html|html)[\s>]/i;

/** Text has its claimed type. Without one, and without an ending in the name, it is plain text or HTML. */
function textType({ bytes, filename, mimetype }: UploadedFile, claimed: string[]): string | undefined {
  if (isPdf(bytes)) return MEDIA_TYPES.pdf;
  const head = bytes.toString("latin1", 0, 1_000);
  if (head.startsWith("{\\rtf")) return MEDIA_TYPES.rtf;
  const textual = claimed.find((type) => TEXTUAL.includes(type));
  if (textual) return textual;
  if (claimed.length > 0) return claimed.find((type) => !isPicture(type));
  if (parseMediaType(mimetype) !== OCTETS || /\.[^.\s]{1,10}$/.test(filename)) return undefined;
  return HTML.test(head) ? MEDIA_TYPES.html : MEDIA_TYPES.txt;
}

/** No reader takes compressed data. file-type would inflate it, and may find nothing in a file that was cut off. */
const isGzip = (bytes: Buffer): boolean => bytes[0] === 0x1f && bytes[1] === 0x8b;

async function binaryType(
  { bytes }: UploadedFile,
  claimed: string[],
  { pictures }: DetectionOptions,
): Promise<string | undefined> {
  if (isGzip(bytes)) return undefined;
  // without a known signature the claimed type counts, and its reader says what is wrong with the file
  const found = await fileTypeFromBuffer(bytes.subarray(0, HEAD_BYTES)).catch(() => undefined);
  if (!found) return claimed.find((type) => !TEXTUAL.includes(type));
  const type = canonicalType(found.mime);
  return hasReader(type, pictures) ? type : undefined;
}

/**
 * Detects the type of a file by its bytes, then by the declared type, then by its ending. Throws 415 `unsupported_file_type`
 * when no reader exists. A file with a wrong claim is accepted, and its reader fails with a reason.
 */
export async function detectType(sent: UploadedFile, options: DetectionOptions): Promise<string> {
  const claimed = findClaimedTypes(sent, options);
  const packed = isZip(sent.bytes) || isCompound(sent.bytes);
  const type = packed
    ? packedType(sent, claimed)
    : looksLikeText(sent.bytes)
      ? textType(sent, claimed)
      : await binaryType(sent, claimed, options);
  if (type) return type;
  throw refusal("Files of this type cannot be read.");
}
