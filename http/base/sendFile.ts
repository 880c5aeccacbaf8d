import type { FastifyReply, FastifyRequest } from "fastify";
import { downloadHeaders } from "./downloadHeaders.ts";

/** Bodies and answers up to this size are not counted: thousands of them fit into memory, and counting would cost each body a stream. */
export const MAX_UNCOUNTED_BYTES = 64 * 1024;
/** A client that takes no byte of an answer for this time is cut off: the answer stays in memory until then. */
const MAX_SILENCE_MS = 30_000;

export const limitSilence = ({ raw }: FastifyReply): void => void raw.setTimeout(MAX_SILENCE_MS, () => raw.destroy());

/** Counts an answer as bytes that its organization holds in memory until the client has it. Throws 429 `too_many_bytes`, and Unavailable. */
export function holdAnswer(request: FastifyRequest, reply: FastifyReply, bytes: number): void {
  request.holds(bytes);
  limitSilence(reply);
}

/** Call it before a file or text of about `bytes` is read for an answer: a long one waits until the organization reads few others. */
export async function waitToRead(request: Pick<FastifyRequest, "readsMuch">, bytes: number): Promise<void> {
  if (bytes > MAX_UNCOUNTED_BYTES) await request.readsMuch();
}

interface StoredFile {
  mime_type: string;
  filename: string;
  bytes: number;
}

/** Answers with a stored file, counted before it is read. Returns false, without an answer, when its bytes are deleted. */
export async function sendFile(
  request: FastifyRequest,
  reply: FastifyReply,
  file: StoredFile,
  read: () => Promise<Buffer | undefined>,
): Promise<boolean> {
  holdAnswer(request, reply, file.bytes);
  const content = await read();
  // Not returned: to await a reply is to wait until it is sent, for undefined.
  if (content) void reply.headers(downloadHeaders(file)).send(content);
  return content !== undefined;
}
