import { fetchPage } from "./fetchPage.ts";
import type { GuardedFetch } from "./guardedFetch.ts";

/** A file from the web, or why it is not available, for the person who chose the address. */
export type FetchedFile = { filename: string; mimetype: string; bytes: Buffer } | { refusal: string };

/** Fetches a file of at most 10 MiB within 20 s. */
export async function fetchFile(fetch: GuardedFetch, url: string, signal: AbortSignal): Promise<FetchedFile> {
  try {
    const found = await fetchPage(fetch, url, signal);
    return "unchanged" in found ? { refusal: "The server sent no file." } : found;
  } catch (error) {
    if (signal.aborted) return { refusal: "There was no time left for this address; send it in another request." };
    throw error;
  }
}
