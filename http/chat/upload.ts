import type { FastifyRequest } from "fastify";
import { ApiError } from "../errors.ts";
import { cleanFilename } from "../filename.ts";
import { mediaType, nameOfType, OCTETS, typeOfName } from "../mediaType.ts";
import { readForm, type Field, type FormRules } from "../upload/form.ts";

export interface Upload {
  filename: string;
  mime_type: string;
  purpose: string;
  user: string | undefined;
  bytes: Buffer;
  sha256: string;
}

const RULES: FormRules = {
  counts: () => true,
  keeps: (part) => part.fieldname === "file",
  unreadable: "invalid_multipart",
  tooMany: "invalid_multipart",
};

/** Fields by name, the first of each. A value that was cut, or read as JSON, would name another user than the one that was sent. */
function textsOf(fields: Field[]): Map<string, string> {
  const texts = new Map<string, string>();
  for (const { name, value, truncated } of fields) {
    if (truncated || typeof value !== "string")
      throw new ApiError("invalid_multipart", "A field of the form is too long, or no text.");
    if (!texts.has(name)) texts.set(name, value);
  }
  return texts;
}

/** Reads an upload. Throws 400 `invalid_multipart`, `missing_file`, `invalid_file`, 413 `file_too_large`. */
export async function readUpload(request: FastifyRequest): Promise<Upload> {
  const { file, fields } = await readForm(request, RULES);
  const texts = textsOf(fields);
  if (!file)
    throw new ApiError("missing_file", "The form needs a part named file, with a filename.", { param: "file" });
  const { bytes, sha256 } = file;
  if (bytes.length === 0) throw new ApiError("invalid_file", "The uploaded file is empty.", { param: "file" });
  const sentName = cleanFilename(file.filename);
  const declared = mediaType(file.mimetype);
  const mime_type = declared === OCTETS ? typeOfName(sentName) : declared;
  return {
    filename: sentName || nameOfType(mime_type),
    mime_type,
    purpose: texts.get("purpose") || "user_data",
    user: texts.get("user"),
    bytes,
    sha256,
  };
}
