import { createHash } from "node:crypto";
import type { MultipartFile } from "@fastify/multipart";
import type { FastifyRequest } from "fastify";
import { ApiError } from "../errors.ts";
import { toApiError } from "../failures.ts";
import { cleanFilename } from "../filename.ts";
import { mediaType, nameOfType, OCTETS, typeOfName } from "../mediaType.ts";

export const MAX_FILE_BYTES = 100_000_000;
/** Boundaries, part headers and the other fields. */
export const OVERHEAD_BYTES = 1024 * 1024;
const LIMITS = {
  fileSize: MAX_FILE_BYTES,
  files: 1,
  fields: 19,
  parts: 20,
  fieldSize: 64 * 1024,
  fieldNameSize: 200,
  headerPairs: 50,
};

export interface Upload {
  filename: string;
  mime_type: string;
  purpose: string;
  user: string | undefined;
  bytes: Buffer;
  sha256: string;
}

const tooLarge = () => new ApiError("file_too_large", "The file is larger than 100 MB.", { param: "file" });

/** Parts of a multipart body: the one file, and the fields by name (the first of each). */
async function partsOf(
  request: FastifyRequest,
): Promise<{ file: { part: MultipartFile; bytes: Buffer } | undefined; fields: Map<string, string> }> {
  const fields = new Map<string, string>();
  let file: { part: MultipartFile; bytes: Buffer } | undefined;
  for await (const part of request.parts({ limits: LIMITS })) {
    if (part.type === "field") {
      // a value that was cut, or read as JSON, would name another user than the one that was sent
      if (part.valueTruncated || typeof part.value !== "string")
        throw new ApiError("invalid_multipart", "A field of the form is too long, or no text.");
      if (!fields.has(part.fieldname)) fields.set(part.fieldname, part.value);
    } else {
      const bytes = await part.toBuffer();
      if (part.fieldname === "file") file ??= { part, bytes };
    }
  }
  return { file, fields };
}

/** Whatever the parser says of a body is about the body. */
function unreadable(error: unknown): ApiError {
  const known = toApiError(error);
  if (known.status < 500)
    return known.errorCode
      ? known
      : new ApiError("invalid_multipart", "The multipart body cannot be read.", { cause: error });
  return new ApiError("invalid_multipart", "The multipart body cannot be read.", { cause: error });
}

/** Reads an upload. Throws 400 `invalid_multipart`, `missing_file`, `invalid_file`, 413 `file_too_large`. */
export async function readUpload(request: FastifyRequest): Promise<Upload> {
  if (!request.isMultipart()) throw new ApiError("invalid_multipart", "The body must be multipart/form-data.");
  if (Number(request.headers["content-length"]) > MAX_FILE_BYTES + OVERHEAD_BYTES) throw tooLarge();
  const { file, fields } = await partsOf(request).catch((error: unknown) => {
    throw unreadable(error);
  });
  if (!file)
    throw new ApiError("missing_file", "The form needs a part named file, with a filename.", { param: "file" });
  if (file.bytes.length === 0) throw new ApiError("invalid_file", "The uploaded file is empty.", { param: "file" });
  const sentName = cleanFilename(file.part.filename ?? "");
  const declared = mediaType(file.part.mimetype ?? "");
  const mime_type = declared === OCTETS ? typeOfName(sentName) : declared;
  return {
    filename: sentName || nameOfType(mime_type),
    mime_type,
    purpose: fields.get("purpose") || "user_data",
    user: fields.get("user"),
    bytes: file.bytes,
    sha256: createHash("sha256").update(file.bytes).digest("hex"),
  };
}
