import type { FetchedPage, FetchOptions } from "#services/sources/ports.ts";
import { WebError } from "#services/turns/tools/web.ts";
import { download } from "./download.ts";
import type { GuardedFetch } from "./guardedFetch.ts";

const ACCEPT = "text/markdown, text/html;q=0.9, application/pdf;q=0.9, text/plain;q=0.8, */*;q=0.5";
/** Maximum length of a cache validator; longer ones are not stored. */
const MAX_MARK_LENGTH = 200;

/** The last segment of the path, or the host. */
function nameOf(url: string): string {
  const { pathname, host } = new URL(url);
  const last = pathname.split("/").at(-1)!;
  try {
    return decodeURIComponent(last) || host;
  } catch {
    return last;
  }
}

function requestHeaders({ known, agent }: FetchOptions): Record<string, string> {
  return {
    accept: ACCEPT,
    ...(agent && { "user-agent": agent }),
    ...(known?.etag && { "if-none-match": known.etag }),
    ...(known?.last_modified && { "if-modified-since": known.last_modified }),
  };
}

function readMark(headers: Headers, name: string): string | null {
  const mark = headers.get(name);
  return mark !== null && mark.length <= MAX_MARK_LENGTH ? mark : null;
}

/** Fetches a file of at most 10 MiB within 20 s. Throws only when `signal` is aborted. */
export async function fetchPage(
  fetch: GuardedFetch,
  url: string,
  signal: AbortSignal,
  options: FetchOptions = {},
): Promise<FetchedPage> {
  try {
    const { permit } = options;
    const found = await download(fetch, url, { headers: requestHeaders(options) }, signal, permit && { permit });
    const { status, headers, bytes } = found;
    if (status === 304 && options.known) return { unchanged: true };
    if (status >= 400) return { refusal: `The server answered ${status}.`, status };
    return {
      url: found.url,
      filename: nameOf(found.url),
      mimetype: headers.get("content-type") ?? "",
      bytes,
      etag: readMark(headers, "etag"),
      last_modified: readMark(headers, "last-modified"),
    };
  } catch (error) {
    if (error instanceof WebError) return { refusal: error.message };
    throw error;
  }
}
