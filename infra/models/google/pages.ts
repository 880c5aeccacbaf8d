import type { z } from "zod";
import type { Source } from "#events/thread.ts";
import type { Piece } from "./answer.ts";

type Candidate = z.infer<typeof Piece>["candidates"][number];

/** More pages than a request may name are not read. */
const MAX_PAGES = 100;

/** The pages that Google's own tool has read for an answer, with their titles where it tells them. */
export function createPages() {
  const urls = new Set<string>();
  const titles = new Map<string, string>();
  return {
    add({ urlContextMetadata, groundingMetadata }: Candidate): void {
      for (const { retrievedUrl, urlRetrievalStatus } of urlContextMetadata?.urlMetadata ?? [])
        if (urlRetrievalStatus === "URL_RETRIEVAL_STATUS_SUCCESS" && urls.size < MAX_PAGES) urls.add(retrievedUrl);
      for (const { web } of groundingMetadata?.groundingChunks ?? [])
        if (titles.size < MAX_PAGES) titles.set(web.uri, web.title);
    },
    read: (): Source[] => [...urls].map((url) => ({ url, title: titles.get(url) ?? url })),
  };
}
