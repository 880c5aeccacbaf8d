import { ApiError } from "../base/errors.ts";
import { cleanFilename } from "../base/filename.ts";
import { parseMediaType, defaultFilename, mediaTypeFromName, OCTETS } from "../base/mediaType.ts";
import { decodedLength } from "./base64.ts";

export const MAX_ATTACHMENTS = 16;
export const MAX_ATTACHMENT_BYTES = 25 * 1024 * 1024;

/** An attachment of a request: its bytes, still base64, or the id of an uploaded file. */
export type AttachmentSource =
  | { kind: "inline"; filename: string; mime_type: string; base64: string; param: string }
  | { kind: "stored"; file_id: string; param: string };

// matches only the beginning, because decodedLength checks the data
const DATA_URL = /^data:([^;,\s]{1,200})((?:;[^;,\s]{1,200}){0,8});base64,/i;

const NOT_FETCHED =
  "Remote files are never fetched: send the bytes, or upload them to /api/openai/v1/files and pass the file's id.";

const invalid = (param: string, message: string) =>
  new ApiError("invalid_attachment", `${param} ${message}`, { param });

export const attachmentTooLarge = (param: string) =>
  new ApiError("attachment_too_large", `${param} is larger than 25 MiB after decoding.`, { param });

function checkBase64(base64: string, param: string): string {
  const bytes = decodedLength(base64);
  if (bytes === undefined) throw invalid(param, "must be valid base64: standard alphabet, padded, no white space.");
  if (bytes === 0) throw invalid(param, "must not be empty.");
  if (bytes > MAX_ATTACHMENT_BYTES) throw attachmentTooLarge(param);
  return base64;
}

function fromDataUrl(url: string, filename: string, param: string): AttachmentSource {
  const match = DATA_URL.exec(url.slice(0, 2_100));
  if (!match || !match[1]!.includes("/"))
    throw invalid(param, "must be a URL of the form data:<media type>;base64,<data>.");
  const declared = parseMediaType(match[1]!);
  const name = cleanFilename(filename);
  // browsers write this type for files whose type they do not know
  const mime_type = declared === OCTETS ? mediaTypeFromName(name) : declared;
  const base64 = checkBase64(url.slice(match[0].length), param);
  return { kind: "inline", filename: name || defaultFilename(mime_type), mime_type, base64, param };
}

function fromBareBase64(base64: string, sentName: string, param: string): AttachmentSource {
  const filename = cleanFilename(sentName);
  const mime_type = mediaTypeFromName(filename);
  return {
    kind: "inline",
    filename: filename || defaultFilename(mime_type),
    mime_type,
    base64: checkBase64(base64, param),
    param,
  };
}

/** Reads an image from a base64 `data:` URL. Throws the spec's attachment codes. */
export function readImageAttachment(url: unknown, param: string): AttachmentSource {
  if (typeof url !== "string") throw invalid(param, "must be a base64 data: URL.");
  if (!/^data:/i.test(url)) throw invalid(param, `must be a base64 data: URL. ${NOT_FETCHED}`);
  return fromDataUrl(url, "", param);
}

/** Reads a file from its bytes or its id. Throws the spec's attachment codes. */
export function readFileAttachment(
  { file_data: data, file_id: id, file_url: url, filename = "" }: Record<string, unknown>,
  at: string,
): AttachmentSource {
  if (filename !== null && typeof filename !== "string") throw invalid(`${at}.filename`, "must be a string.");
  if (typeof data === "string") {
    const param = `${at}.file_data`;
    // only the beginning is searched: base64 of 33 MB would be searched to its end
    if (/^\s*[a-z][a-z0-9+.-]*:\/\//i.test(data.slice(0, 1_000)))
      throw invalid(param, `must be base64. ${NOT_FETCHED}`);
    return /^data:/i.test(data)
      ? fromDataUrl(data, filename ?? "", param)
      : fromBareBase64(data, filename ?? "", param);
  }
  if (typeof id === "string") return { kind: "stored", file_id: id, param: `${at}.file_id` };
  if (typeof url === "string") throw invalid(`${at}.file_url`, `is not supported. ${NOT_FETCHED}`);
  throw invalid(at, "must have file_data or file_id, as a string.");
}
