import { WebError, WebRefused } from "#services/turns/tools/web.ts";
import { AddressRefused } from "./address.ts";
import type { GuardedFetch } from "./guardedFetch.ts";

const MOST = 10 * 1024 * 1024;
const WITHIN_MS = 20_000;

export interface Download {
  /** Where it was found at last. */
  url: string;
  status: number;
  headers: Headers;
  bytes: Buffer;
}

async function readAll({ body }: Response, most: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.length;
    if (size > most) throw new WebError(`The answer is larger than ${most / 1024 / 1024} MiB.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** The refusal or the system's own word for what went wrong, whichever says more. */
function failureOf(error: unknown): WebError {
  for (let at = error as Error & { code?: string }; at; at = at.cause as typeof at) {
    if (at instanceof AddressRefused) return new WebRefused(`The address is refused: ${at.message}.`, { cause: error });
    if (at.code) return new WebError(`The address cannot be reached (${at.code}).`, { cause: error });
  }
  return new WebError("The address cannot be reached.", { cause: error });
}

interface Limits {
  /** Largest answer, decoded, in bytes. */
  most?: number;
  within_ms?: number;
  /** As of a GuardedFetch; what it throws should be a WebError. */
  permit?: (url: URL) => void;
}

/** Fetches an address whole, within 20 s and 10 MiB unless told. Throws WebError with a reason for whoever named the address. */
export async function download(
  fetch: GuardedFetch,
  url: string,
  init: RequestInit,
  signal: AbortSignal,
  { most = MOST, within_ms = WITHIN_MS, permit }: Limits = {},
): Promise<Download> {
  const late = AbortSignal.timeout(within_ms);
  try {
    const response = await fetch(url, { ...init, signal: AbortSignal.any([signal, late]) }, permit);
    const { status, headers } = response;
    return { url: response.url || url, status, headers, bytes: await readAll(response, most) };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof WebError) throw error;
    if (late.aborted) throw new WebError(`The answer took longer than ${within_ms / 1_000} seconds.`, { cause: error });
    throw failureOf(error);
  }
}
