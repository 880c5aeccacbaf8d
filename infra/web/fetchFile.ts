import { WebError } from "#services/turns/tools/web.ts";
import { download } from "./download.ts";
import type { GuardedFetch } from "./guardedFetch.ts";

const ACCEPT = "text/markdown, text/html;q=0.9, application/pdf;q=0.9, text/plain;q=0.8, */*;q=0.5";

/** A file of the web, or why it cannot be had, for the person who chose the address. */
export type FetchedFile = { filename: string; mimetype: string; bytes: Buffer } | { refusal: string };

/** The last part of the path, or the host. */
function nameOf(url: string): string {
  const { pathname, host } = new URL(url);
  const last = pathname.split("/").at(-1)!;
  try {
    return decodeURIComponent(last) || host;
  } catch {
    return last;
  }
}

/** Fetches a file of at most 10 MiB within 20 s. */
export async function fetchFile(fetch: GuardedFetch, url: string, signal: AbortSignal): Promise<FetchedFile> {
  try {
    const found = await download(fetch, url, { headers: { accept: ACCEPT } }, signal);
    if (found.status >= 400) return { refusal: `The server answered ${found.status}.` };
    return {
      filename: nameOf(found.url),
      mimetype: found.headers.get("content-type") ?? "",
      bytes: found.bytes,
    };
  } catch (error) {
    if (error instanceof WebError) return { refusal: error.message };
    if (signal.aborted) return { refusal: "There was no time left for this address; send it in another request." };
    throw error;
  }
}
