import { z } from "zod";
import { WebError, type WebHit } from "#services/turns/tools/web.ts";
import { download } from "./download.ts";

/** An endpoint in the shape of Brave's search API or of SearXNG's. */
export interface SearchEndpoint {
  url: string;
  api_key: string | null;
}

const Hit = z.object({
  url: z.url(),
  title: z.string().catch(""),
  /** Brave's name for the excerpt, and SearXNG's. */
  description: z.string().optional().catch(undefined),
  content: z.string().optional().catch(undefined),
});
const List = z.object({ results: z.array(z.unknown()) });
const Answer = z.union([z.object({ web: List }).transform(({ web }) => web), List]);

const plain = (html: string): string => html.replace(/<\/?[a-z][^>]*>/gi, "").trim();

/** What both kinds of endpoint understand: each takes the parameters it knows. */
function addressOf({ url }: SearchEndpoint, query: string, limit: number): string {
  const address = new URL(url);
  address.searchParams.set("q", query);
  address.searchParams.set("count", String(limit));
  address.searchParams.set("format", "json");
  return address.href;
}

function hitsIn(text: string): WebHit[] {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    throw new WebError("The search endpoint answered with something else than JSON.", { cause: error });
  }
  // an answer without results is one: Brave leaves the list out
  const parsed = Answer.safeParse(json).data ?? { results: [] };
  return parsed.results.flatMap((raw) => {
    const hit = Hit.safeParse(raw).data;
    if (!hit) return [];
    const { url, title, description, content } = hit;
    return [{ url, title: plain(title) || new URL(url).host, snippet: plain(description ?? content ?? "") }];
  });
}

/** Asks a search endpoint. Throws WebError. */
export async function searchWeb(
  fetch: typeof globalThis.fetch,
  endpoint: SearchEndpoint,
  query: string,
  limit: number,
  signal: AbortSignal,
): Promise<WebHit[]> {
  const headers = {
    accept: "application/json",
    ...(endpoint.api_key !== null && { "x-subscription-token": endpoint.api_key }),
  };
  const { status, bytes } = await download(fetch, addressOf(endpoint, query, limit), { headers }, signal);
  if (status >= 400) throw new WebError(`The search endpoint answered ${status}.`);
  return hitsIn(bytes.toString("utf8")).slice(0, limit);
}
