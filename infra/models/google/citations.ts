import type { Citation } from "#events/thread.ts";
import type { Candidate } from "./answer.ts";

/** A request may name at most this many pages. */
const MAX_PAGES = 100;

/** Collects the pages that Google's own tool read for an answer, with titles if given. */
export function createPageCollector() {
  const urls = new Set<string>();
  const titles = new Map<string, string>();
  return {
    add({ urlContextMetadata, groundingMetadata }: Candidate): void {
      for (const { retrievedUrl, urlRetrievalStatus } of urlContextMetadata?.urlMetadata ?? [])
        if (urlRetrievalStatus === "URL_RETRIEVAL_STATUS_SUCCESS" && urls.size < MAX_PAGES) urls.add(retrievedUrl);
      for (const { web } of groundingMetadata?.groundingChunks ?? [])
        if (titles.size < MAX_PAGES) titles.set(web.uri, web.title);
    },
    /** One citation of the whole answer per page. `length`: of the answer's text, in UTF-16 units. */
    citations: (length: number): Citation[] =>
      [...urls].map((url) => ({ url, title: titles.get(url) ?? url, start_index: 0, end_index: length })),
  };
}
