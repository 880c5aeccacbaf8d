import { WebError, WebRefused, type DownloadMemory } from "#services/turns/tools/web.ts";
import { AddressRefused } from "./address.ts";
import { notPublic, type GuardedFetch } from "./guardedFetch.ts";

const MAX_BYTES = 10 * 1024 * 1024;
const TIMEOUT_MS = 20_000;

export interface Download {
  /** The address after redirects. */
  url: string;
  status: number;
  headers: Headers;
  bytes: Buffer;
}

async function readAll({ body }: Response, max_bytes: number, memory: DownloadLimits["memory"]): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.length;
    if (size > max_bytes) throw new WebError(`The answer is larger than ${max_bytes / 1024 / 1024} MiB.`);
    memory?.take(chunk.length);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

const UNKNOWN_NAME = new Set(["ENOTFOUND", "ENODATA"]);
const refusal = (why: string): string => `The address is refused: ${why}.`;

/**
 * Converts an error to a WebError with the reason why the address was refused, or with the system's error code. Private and unknown
 * names get the same message; otherwise callers could find out which names exist in our network.
 */
function toWebError(error: unknown): WebError {
  for (let at = error as Error & { code?: string; hostname?: string }; at; at = at.cause as typeof at) {
    if (at instanceof AddressRefused) return new WebRefused(refusal(at.message), { cause: error });
    if (UNKNOWN_NAME.has(at.code ?? "") && at.hostname)
      return new WebError(refusal(notPublic(at.hostname)), { cause: error });
    if (at.code) return new WebError(`The address cannot be reached (${at.code}).`, { cause: error });
  }
  return new WebError("The address cannot be reached.", { cause: error });
}

interface DownloadLimits {
  /** Maximum size of the decoded answer. */
  max_bytes?: number;
  timeout_ms?: number;
  /** See GuardedFetch; it should throw a WebError. */
  permit?: (url: URL) => void | Promise<void>;
  /** Where the bytes are counted. The user of the content releases them. */
  memory?: Pick<DownloadMemory, "take">;
}

/** Downloads a whole response, by default within 20 s and 10 MiB. Throws WebError with a reason for the person who chose the address. */
export async function download(
  fetch: GuardedFetch,
  url: string,
  init: RequestInit,
  signal: AbortSignal,
  { max_bytes = MAX_BYTES, timeout_ms = TIMEOUT_MS, permit, memory }: DownloadLimits = {},
): Promise<Download> {
  const timeout = AbortSignal.timeout(timeout_ms);
  try {
    const response = await fetch(url, { ...init, signal: AbortSignal.any([signal, timeout]) }, permit);
    const { status, headers } = response;
    return { url: response.url || url, status, headers, bytes: await readAll(response, max_bytes, memory) };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof WebError) throw error;
    if (timeout.aborted)
      throw new WebError(`The answer took longer than ${timeout_ms / 1_000} seconds.`, { cause: error });
    throw toWebError(error);
  }
}
