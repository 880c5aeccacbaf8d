import { z } from "zod";
import { findExcess } from "#events/jsonLimits.ts";
import { WebError, type WebHit } from "#services/turns/tools/web.ts";
import { download } from "./download.ts";

/** A search API like Brave's or SearXNG's. */
export interface WebSearchEndpoint {
  url: string;
  api_key: string | null;
}

const Hit = z.object({
  url: z.url(),
  title: z.string().catch(""),
  /** The excerpt is `description` in Brave's API, `content` in SearXNG's. */
  description: z.string().optional().catch(undefined),
  content: z.string().optional().catch(undefined),
});
const List = z.object({ results: z.array(z.unknown()) });
const Answer = z.union([z.object({ web: List }).transform(({ web }) => web), List]);

/** Maximum bytes of an answer: a page of results has about 50 KB. */
const MAX_ANSWER_BYTES = 1024 * 1024;
/** Maximum UTF-16 units of a title and of an excerpt. */
const MAX_TEXT = 2_000;
/** Maximum UTF-16 units searched for tags. */
const MAX_HTML = 4 * MAX_TEXT;

/** The pattern stops at the next `<`, so that it takes linear time on many open tags. */
const stripTags = (html: string): string =>
  html
    .slice(0, MAX_HTML)
    .replace(/<\/?[a-z][^<>]*>/gi, "")
    .trim()
    .slice(0, MAX_TEXT)
    .toWellFormed();

/** One URL for both APIs: each ignores the parameters of the other. */
function searchUrl({ url }: WebSearchEndpoint, query: string, limit: number): string {
  const address = new URL(url);
  address.searchParams.set("q", query);
  address.searchParams.set("count", String(limit));
  address.searchParams.set("format", "json");
  return address.href;
}

/** Maximum results read from an answer. The first ones match best. */
const MAX_RESULTS = 200;

function hitsIn(bytes: Buffer): WebHit[] {
  const excess = findExcess(bytes);
  if (excess) throw new WebError(`The search endpoint's answer ${excess}.`);
  let json: unknown;
  try {
    json = JSON.parse(bytes.toString("utf8"));
  } catch (error) {
    throw new WebError("The search endpoint did not answer with JSON.", { cause: error });
  }
  // Brave omits the list if there are no results
  const parsed = Answer.safeParse(json).data ?? { results: [] };
  return parsed.results.slice(0, MAX_RESULTS).flatMap((raw) => {
    const hit = Hit.safeParse(raw).data;
    if (!hit) return [];
    const { url, title, description, content } = hit;
    return [{ url, title: stripTags(title) || new URL(url).host, snippet: stripTags(description ?? content ?? "") }];
  });
}

/** Throws WebError. */
export async function searchWeb(
  fetch: typeof globalThis.fetch,
  endpoint: WebSearchEndpoint,
  query: string,
  limit: number,
  signal: AbortSignal,
): Promise<WebHit[]> {
  const headers = {
    accept: "application/json",
    ...(endpoint.api_key !== null && { "x-subscription-token": endpoint.api_key }),
  };
  const { status, bytes } = await download(fetch, searchUrl(endpoint, query, limit), { headers }, signal, {
    max_bytes: MAX_ANSWER_BYTES,
  });
  if (status >= 400) throw new WebError(`The search endpoint answered ${status}.`);
  return hitsIn(bytes).slice(0, limit);
}
