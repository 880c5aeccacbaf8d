import type { FastifyReply, FastifyRequest } from "fastify";
import { downloadHeaders } from "./downloadHeaders.ts";

/** Bodies and answers up to this size are not counted: thousands of them fit into memory, and each count would cost a stream. */
export const MAX_UNCOUNTED_BYTES = 64 * 1024;
/** A client that reads nothing of an answer for this long is disconnected, because the answer stays in memory. */
const MAX_SILENCE_MS = 30_000;

export const limitIdleTime = ({ raw }: FastifyReply): void => void raw.setTimeout(MAX_SILENCE_MS, () => raw.destroy());

/** Counts an answer's bytes for its organization until the client has read it. Throws 429 `too_many_bytes`, and Unavailable. */
export function reserveAnswerBytes(request: FastifyRequest, reply: FastifyReply, bytes: number): void {
  request.countBytes(bytes);
  limitIdleTime(reply);
}

/** Call this before reading about `bytes` bytes for an answer. A long read waits until the organization has few others. */
export async function waitToRead(request: Pick<FastifyRequest, "acquireLongRead">, bytes: number): Promise<void> {
  if (bytes > MAX_UNCOUNTED_BYTES) await request.acquireLongRead();
}

interface StoredFile {
  mime_type: string;
  filename: string;
  bytes: number;
}

/** Sends a stored file, counted before it is read. Returns false and sends nothing if its bytes were deleted. */
export async function sendFile(
  request: FastifyRequest,
  reply: FastifyReply,
  file: StoredFile,
  read: () => Promise<Buffer | undefined>,
): Promise<boolean> {
  reserveAnswerBytes(request, reply, file.bytes);
  const content = await read();
  // the reply is not returned, because awaiting it would wait until it is sent and yield undefined
  if (content) void reply.headers(downloadHeaders(file)).send(content);
  return content !== undefined;
}
