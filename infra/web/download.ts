import { WebError } from "#services/turns/tools/web.ts";
import { AddressRefused } from "./address.ts";

/** Largest answer, decoded, in bytes, where no smaller one is asked for. */
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
function reasonOf(error: unknown): string {
  for (let at = error as Error & { code?: string }; at; at = at.cause as typeof at) {
    if (at instanceof AddressRefused) return `The address is refused: ${at.message}.`;
    if (at.code) return `The address cannot be reached (${at.code}).`;
  }
  return "The address cannot be reached.";
}

/** Fetches an address whole, within 20 s and 10 MiB or less. Throws WebError with a reason for whoever named the address. */
export async function download(
  fetch: typeof globalThis.fetch,
  url: string,
  init: RequestInit,
  signal: AbortSignal,
  most = MOST,
): Promise<Download> {
  const late = AbortSignal.timeout(WITHIN_MS);
  try {
    const response = await fetch(url, { ...init, signal: AbortSignal.any([signal, late]) });
    const { status, headers } = response;
    return { url: response.url || url, status, headers, bytes: await readAll(response, most) };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof WebError) throw error;
    if (late.aborted) throw new WebError(`The answer took longer than ${WITHIN_MS / 1_000} seconds.`, { cause: error });
    throw new WebError(reasonOf(error), { cause: error });
  }
}
