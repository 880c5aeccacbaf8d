import { ApiError } from "../errors.ts";
import { cleanFilename } from "../filename.ts";
import { mediaType, nameOfType, typeOfName } from "../mediaType.ts";
import { decodedLength } from "./base64.ts";
import type { Part } from "./schema.ts";

export const MAX_ATTACHMENTS = 16;
export const MAX_ATTACHMENT_BYTES = 25 * 1024 * 1024;

/** A file as the request names it: its own bytes (still base64), or one that was uploaded before. */
export type Named =
  | { kind: "inline"; filename: string; mime_type: string; base64: string; param: string }
  | { kind: "stored"; file_id: string; param: string };

// the media type and its parameters are short; the data is matched by decodedLength
const DATA_URL = /^data:([^;,\s]{1,200})((?:;[^;,\s]{1,200}){0,8});base64,/i;

const invalid = (param: string, message: string) =>
  new ApiError("invalid_attachment", `${param} ${message}`, { param });

export const tooLarge = (param: string) =>
  new ApiError("attachment_too_large", `${param} is larger than 25 MiB after decoding.`, { param });

function checked(base64: string, param: string): string {
  const bytes = decodedLength(base64);
  if (bytes === undefined) throw invalid(param, "must be valid base64: standard alphabet, padded, no white space.");
  if (bytes === 0) throw invalid(param, "holds no bytes.");
  if (bytes > MAX_ATTACHMENT_BYTES) throw tooLarge(param);
  return base64;
}

function fromDataUrl(url: string, filename: string, param: string): Named {
  const match = DATA_URL.exec(url.slice(0, 2_100));
  if (!match || !match[1]!.includes("/"))
    throw invalid(param, "must be a URL of the form data:<media type>;base64,<data>.");
  const mime_type = mediaType(match[1]!);
  const base64 = checked(url.slice(match[0].length), param);
  return { kind: "inline", filename: cleanFilename(filename) || nameOfType(mime_type), mime_type, base64, param };
}

function fromBareBase64(base64: string, sentName: string, param: string): Named {
  const filename = cleanFilename(sentName);
  const mime_type = typeOfName(filename);
  return {
    kind: "inline",
    filename: filename || nameOfType(mime_type),
    mime_type,
    base64: checked(base64, param),
    param,
  };
}

const fieldsOf = (value: unknown): Record<string, unknown> =>
  typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};

/** An image given as a base64 data: URL. Throws the spec's attachment codes. */
export function imageAttachment(url: unknown, param: string): Named {
  if (typeof url !== "string") throw invalid(param, "must be a base64 data: URL.");
  if (!/^data:/i.test(url)) throw invalid(param, "must be a base64 data: URL; remote files are never fetched.");
  return fromDataUrl(url, "", param);
}

/** A file given by its bytes or by its id. Throws the spec's attachment codes. */
export function fileAttachment(
  { file_data: data, file_id: id, filename = "" }: Record<string, unknown>,
  at: string,
): Named {
  if (filename !== null && typeof filename !== "string") throw invalid(`${at}.filename`, "must be a string.");
  if (typeof data === "string") {
    const param = `${at}.file_data`;
    if (/^\s*[a-z][a-z0-9+.-]*:\/\//i.test(data))
      throw invalid(param, "must be base64; remote files are never fetched.");
    return /^data:/i.test(data)
      ? fromDataUrl(data, filename ?? "", param)
      : fromBareBase64(data, filename ?? "", param);
  }
  if (typeof id === "string") return { kind: "stored", file_id: id, param: `${at}.file_id` };
  throw invalid(at, "must have file_data or file_id, as a string.");
}

/** The attachment in a part of a user message; undefined for parts of other types. Throws the spec's attachment codes. */
export function attachmentOf(part: Part, at: string): Named | undefined {
  if (part.type === "image_url") return imageAttachment(fieldsOf(part.image_url)["url"], `${at}.image_url.url`);
  if (part.type === "file") return fileAttachment(fieldsOf(part.file), `${at}.file`);
  return undefined;
}
