import { createHash } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import type { MultipartFile } from "@fastify/multipart";
import type { FastifyRequest } from "fastify";
import type { ErrorCode } from "#events/errorCodes.ts";
import { Unavailable } from "#events/ports.ts";
import { ApiError } from "../base/errors.ts";
import { OCTETS } from "../base/mediaType.ts";
import { toApiError } from "../base/toApiError.ts";

export const MAX_FILE_BYTES = 100_000_000;
/** Boundaries, part headers and the other fields of a form. */
export const MAX_FORM_OVERHEAD_BYTES = 1024 * 1024;
const LIMITS = {
  fileSize: MAX_FILE_BYTES,
  fields: 100,
  parts: 110,
  fieldSize: 64 * 1024,
  fieldNameSize: 200,
  headerPairs: 50,
};

/** A file as it was sent. Its name and type are not checked. */
export interface SentFile {
  filename: string;
  mimetype: string;
  bytes: Buffer;
  /** SHA-256 of the bytes, hex. */
  sha256: string;
}
export interface Field {
  name: string;
  /** Text, or the parsed value of a part of type application/json. */
  value: unknown;
  truncated: boolean;
}
export interface Form {
  file: SentFile | undefined;
  fields: Field[];
}

/** Which part is the file of a route, and the error codes of the route. */
export interface FormRules {
  /** Whether a part counts as a file. A form may have one. */
  isFile(part: MultipartFile): boolean;
  /** Whether this is the file that the route wants. Other files are skipped. */
  isWanted(part: MultipartFile): boolean;
  /** Names of the fields that the route reads. Other fields are skipped unread, because they may hold anything. */
  fields: ReadonlySet<string>;
  /** Error code for a body that cannot be parsed. */
  unreadableCode: ErrorCode;
  /** Error code for a second file. */
  tooManyCode: ErrorCode;
}

const tooLarge = () => new ApiError("file_too_large", "The file is larger than 100 MB.", { param: "file" });

/** Hashes each chunk as it arrives, because hashing 100 MB at once would block the process for 60 ms. */
export async function readContent(
  { file }: MultipartFile,
  request: FastifyRequest,
): Promise<Pick<SentFile, "bytes" | "sha256">> {
  const hash = createHash("sha256");
  const chunks: Buffer[] = [];
  let held = 0;
  for await (const chunk of file as AsyncIterable<Buffer>) {
    request.countBytes(chunk.length);
    held += chunk.length;
    hash.update(chunk);
    chunks.push(chunk);
  }
  if (file.truncated) {
    request.countBytes(-held);
    throw tooLarge();
  }
  return { bytes: await concatenate(chunks), sha256: hash.digest("hex") };
}

/** Bytes copied between two pauses, which takes about 4 ms. */
const MAX_COPY_BYTES = 4_000_000;

/** Like Buffer.concat, but with pauses: copying 100 MB at once blocked the process for 100 ms. */
export async function concatenate(chunks: Buffer[]): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(chunks.reduce((sum, { length }) => sum + length, 0));
  let [copied, pausedAt] = [0, 0];
  for (const chunk of chunks) {
    bytes.set(chunk, copied);
    copied += chunk.length;
    if (copied - pausedAt < MAX_COPY_BYTES) continue;
    pausedAt = copied;
    await setImmediate();
  }
  return bytes;
}

async function skip({ file }: MultipartFile): Promise<void> {
  for await (const _ of file) if (file.truncated) throw tooLarge();
}

async function readParts(request: FastifyRequest, rules: FormRules): Promise<Form> {
  const fields: Field[] = [];
  let files = 0;
  let file: SentFile | undefined;
  // otherwise the parser would refuse the form for an unknown field whose content it cannot parse
  const isPartAFile = (name = "", type?: string, filename?: string): boolean =>
    filename !== undefined || type === OCTETS || !rules.fields.has(name);
  for await (const part of request.parts({ limits: LIMITS, isPartAFile })) {
    if (part.type === "field") {
      fields.push({ name: part.fieldname, value: part.value, truncated: part.valueTruncated });
      continue;
    }
    if (rules.isFile(part) && ++files > 1)
      throw new ApiError(rules.tooManyCode, "The form has more than one file; send one.", { param: "file" });
    if (!rules.isWanted(part)) await skip(part);
    else file = { filename: part.filename ?? "", mimetype: part.mimetype ?? "", ...(await readContent(part, request)) };
  }
  return { file, fields };
}

/** Converts an error of the parser: the body is malformed, whatever status the parser gives. */
function refusal(error: unknown, code: ErrorCode): ApiError {
  const known = toApiError(error);
  const message = known.status < 500 && known.errorCode ? known.message : "The multipart body cannot be read.";
  return new ApiError(code, message, { cause: error });
}

/**
 * Reads a multipart body: the file, and the fields in order. Throws the error codes in `rules`, 413 `file_too_large` above
 * 100,000,000 bytes, and Unavailable if the memory budget for bodies is used up. The rest of a refused body is read and
 * discarded, because a client that is still sending may not read the answer.
 */
export async function readForm(request: FastifyRequest, rules: FormRules): Promise<Form> {
  if (!request.isMultipart()) throw new ApiError(rules.unreadableCode, "The body must be multipart/form-data.");
  if (Number(request.headers["content-length"]) > MAX_FILE_BYTES + MAX_FORM_OVERHEAD_BYTES) throw tooLarge();
  return convertFormErrors(request, rules, () => readParts(request, rules));
}

/** Reads and discards the rest of a body. */
export function discardBody({ raw }: FastifyRequest): void {
  raw.unpipe();
  raw.resume();
}

/** Reads parts of a form. Throws the same errors as readForm. */
export async function convertFormErrors<T>(
  request: FastifyRequest,
  rules: Pick<FormRules, "unreadableCode">,
  read: () => Promise<T>,
): Promise<T> {
  try {
    return await read();
  } catch (error) {
    discardBody(request);
    const isKnown =
      error instanceof ApiError ||
      error instanceof Unavailable ||
      (error as { code?: string }).code === "FST_REQ_FILE_TOO_LARGE";
    throw isKnown ? toApiError(error) : refusal(error, rules.unreadableCode);
  }
}
