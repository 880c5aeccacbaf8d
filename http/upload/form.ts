import { createHash } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import type { MultipartFile } from "@fastify/multipart";
import type { FastifyRequest } from "fastify";
import { Unavailable } from "#events/ports.ts";
import { ApiError } from "../errors.ts";
import { toApiError } from "../failures.ts";

export const MAX_FILE_BYTES = 100_000_000;
/** Boundaries, part headers and the other fields. */
export const OVERHEAD_BYTES = 1024 * 1024;
const LIMITS = {
  fileSize: MAX_FILE_BYTES,
  fields: 100,
  parts: 110,
  fieldSize: 64 * 1024,
  fieldNameSize: 200,
  headerPairs: 50,
};

/** A file as it came: nothing that the sender said of it is checked. */
export interface SentFile {
  filename: string;
  mimetype: string;
  bytes: Buffer;
  /** Hex. */
  sha256: string;
}
export interface Field {
  name: string;
  /** Text, or what a part of type application/json holds. */
  value: unknown;
  truncated: boolean;
}
export interface Form {
  file: SentFile | undefined;
  fields: Field[];
}

/** What a route takes for a file, and how it refuses. */
export interface FormRules {
  /** Whether a part is a file at all; there may be one. */
  counts(part: MultipartFile): boolean;
  /** Whether it is the file that is asked for; others are read over. */
  keeps(part: MultipartFile): boolean;
  /** Codes of a body that cannot be read, and of one with a second file. */
  unreadable: string;
  tooMany: string;
}

const tooLarge = () => new ApiError("file_too_large", "The file is larger than 100 MB.", { param: "file" });

/** Hashes while the bytes come: at the end, 100 MB would hold up everybody for 60 ms. */
async function contentOf(
  { file }: MultipartFile,
  request: FastifyRequest,
): Promise<Pick<SentFile, "bytes" | "sha256">> {
  const hash = createHash("sha256");
  const chunks: Buffer[] = [];
  for await (const chunk of file as AsyncIterable<Buffer>) {
    request.holds(chunk.length);
    hash.update(chunk);
    chunks.push(chunk);
  }
  if (file.truncated) throw tooLarge();
  return { bytes: await joined(chunks), sha256: hash.digest("hex") };
}

/** Bytes that are copied in a row. */
const IN_A_ROW = 4_000_000;

/** The chunks as one; others run in between: 100 MB at once took 100 ms. */
async function joined(chunks: Buffer[]): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(chunks.reduce((sum, { length }) => sum + length, 0));
  let [copied, rested] = [0, 0];
  for (const chunk of chunks) {
    bytes.set(chunk, copied);
    copied += chunk.length;
    if (copied - rested < IN_A_ROW) continue;
    rested = copied;
    await setImmediate();
  }
  return bytes;
}

async function skip({ file }: MultipartFile): Promise<void> {
  for await (const _ of file) if (file.truncated) throw tooLarge();
}

async function partsOf(request: FastifyRequest, rules: FormRules): Promise<Form> {
  const fields: Field[] = [];
  let files = 0;
  let file: SentFile | undefined;
  for await (const part of request.parts({ limits: LIMITS })) {
    if (part.type === "field") {
      fields.push({ name: part.fieldname, value: part.value, truncated: part.valueTruncated });
      continue;
    }
    if (rules.counts(part) && ++files > 1)
      throw new ApiError(rules.tooMany, "The form has more than one file; send one.", { param: "file" });
    if (!rules.keeps(part)) await skip(part);
    else file = { filename: part.filename ?? "", mimetype: part.mimetype ?? "", ...(await contentOf(part, request)) };
  }
  return { file, fields };
}

/** Whatever the parser says of a body is about the body. */
function refusal(error: unknown, code: string): ApiError {
  const known = toApiError(error);
  const message = known.status < 500 && known.errorCode ? known.message : "The multipart body cannot be read.";
  return new ApiError(code, message, { cause: error });
}

/**
 * Reads a multipart body: the one file and the fields, in order. Throws the codes of the rules, 413 `file_too_large` over
 * 100,000,000 bytes, and Unavailable where others hold too much already. What is left of a body that was refused is read
 * over, so that the answer can arrive.
 */
export async function readForm(request: FastifyRequest, rules: FormRules): Promise<Form> {
  if (!request.isMultipart()) throw new ApiError(rules.unreadable, "The body must be multipart/form-data.");
  if (Number(request.headers["content-length"]) > MAX_FILE_BYTES + OVERHEAD_BYTES) throw tooLarge();
  try {
    return await partsOf(request, rules);
  } catch (error) {
    request.raw.unpipe();
    request.raw.resume();
    const told =
      error instanceof ApiError ||
      error instanceof Unavailable ||
      (error as { code?: string }).code === "FST_REQ_FILE_TOO_LARGE";
    throw told ? toApiError(error) : refusal(error, rules.unreadable);
  }
}
