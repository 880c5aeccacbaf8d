import type { FastifyRequest } from "fastify";
import { ApiError } from "../base/errors.ts";
import { cleanFilename } from "../base/filename.ts";
import { parseMediaType, defaultFilename, OCTETS, mediaTypeFromName } from "../base/mediaType.ts";
import { isPdf, looksLikeText } from "../upload/looksLikeText.ts";
import { readForm, type Field, type FormRules } from "../upload/multipartForm.ts";

export interface FileUpload {
  filename: string;
  mime_type: string;
  purpose: string;
  user: string | undefined;
  bytes: Buffer;
  sha256: string;
}

const READ: ReadonlySet<string> = new Set(["purpose", "user"]);
const RULES: FormRules = {
  // a part named file without a filename is no file
  fields: new Set([...READ, "file"]),
  isFile: (part) => part.fieldname === "file",
  isWanted: (part) => part.fieldname === "file",
  unreadableCode: "invalid_multipart",
  tooManyCode: "invalid_multipart",
};

/**
 * Reads the text fields and ignores unknown ones. Refuses a truncated, JSON or duplicate value: the file could end up with
 * another user than the client meant.
 */
function readTexts(fields: Field[]): Map<string, string> {
  const texts = new Map<string, string>();
  for (const { name, value, truncated } of fields) {
    if (!READ.has(name)) continue;
    if (truncated || typeof value !== "string")
      throw new ApiError("invalid_multipart", `${name}: must be short text.`, { param: name });
    if (texts.has(name)) throw new ApiError("invalid_multipart", `${name}: must be sent once.`, { param: name });
    texts.set(name, value);
  }
  return texts;
}

/**
 * Whether a declared type is the sender's own. Clients for .NET, Ruby and Python send parts without a type, which the parser reads
 * as `text/plain`, so that type counts for text only.
 */
const isDeclared = (type: string, bytes: Buffer): boolean =>
  type === "text/plain" ? looksLikeText(bytes) && !isPdf(bytes) : type !== OCTETS;

/** Reads an upload. Throws 400 `invalid_multipart`, `missing_file` or `invalid_file`, and 413 `file_too_large`. */
export async function readFileUpload(request: FastifyRequest): Promise<FileUpload> {
  const { file, fields } = await readForm(request, RULES);
  const texts = readTexts(fields);
  if (!file) throw new ApiError("missing_file", "The form needs a part named file with a filename.", { param: "file" });
  const { bytes, sha256 } = file;
  if (bytes.length === 0) throw new ApiError("invalid_file", "The uploaded file is empty.", { param: "file" });
  const sentName = cleanFilename(file.filename);
  const declared = parseMediaType(file.mimetype);
  const mime_type = isDeclared(declared, bytes) ? declared : mediaTypeFromName(sentName);
  return {
    filename: sentName || defaultFilename(mime_type),
    mime_type,
    purpose: texts.get("purpose") ?? "user_data",
    user: texts.get("user"),
    bytes,
    sha256,
  };
}
