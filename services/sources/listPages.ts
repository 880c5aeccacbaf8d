import { createPause } from "#events/slices.ts";
import { UnreadableFile, type Reader } from "../reading/reader.ts";
import { matchesPath, pathOf } from "./patterns.ts";
import type { SourceAddress } from "./ports.ts";
import type { SourceVisit } from "./web.ts";

/** Depth of sitemaps that list sitemaps. */
const MAX_DEPTH = 3;
const MAX_SITEMAPS = 50;
/** Maximum addresses of all sitemaps together. */
const MAX_ADDRESSES = 20_000;
const MAX_URL_LENGTH = 2_048;

export interface Listing {
  urls: string[];
  /** Why pages may be missing; null if the list is complete. A page missing from an incomplete list does not count as gone. */
  gap: string | null;
}

interface QueuedPage {
  url: string;
  depth: number;
}

/** The pages that a source has now. Throws a WebError or an UnreadableFile if its first sitemap cannot be read. */
export async function listPages(
  visit: SourceVisit,
  reader: Pick<Reader, "list">,
  { organization_id, ...source }: SourceAddress & { organization_id: string },
): Promise<Listing> {
  const hosts = new Set([new URL(source.url).host]);
  const queue: QueuedPage[] = [{ url: source.url, depth: 1 }];
  const seen = new Set([source.url]);
  const urls = new Set<string>();
  let gap: string | null = null;
  for (let n = 0; n < queue.length; n++) {
    const { url, depth } = queue[n]!;
    const found = await visit.fetch(url);
    const read = await readSitemap(reader, found, organization_id);
    if ("refusal" in read) {
      if (n === 0) throw new UnreadableFile(read.refusal);
      gap = `${url.slice(0, 200)}: ${read.refusal}`;
      continue;
    }
    hosts.add(read.host);
    if (!read.complete) gap = "The sitemap lists more pages than are read.";
    for (const href of await keepAddresses(read.pages, hosts, (page) => isWanted(page, source))) urls.add(href);
    const nested = (await keepAddresses(read.sitemaps, hosts)).filter((href) => !seen.has(href));
    const followed = depth < MAX_DEPTH ? nested.slice(0, Math.max(0, MAX_SITEMAPS - queue.length)) : [];
    if (followed.length < nested.length) gap = "There are more sitemaps than are read.";
    for (const href of followed) {
      seen.add(href);
      queue.push({ url: href, depth: depth + 1 });
    }
    if (urls.size >= MAX_ADDRESSES) return { urls: [...urls], gap: "The sitemaps list more pages than are read." };
  }
  return { urls: [...urls], gap };
}

async function readSitemap(
  reader: Pick<Reader, "list">,
  found: Awaited<ReturnType<SourceVisit["fetch"]>>,
  organization_id: string,
) {
  if (!("bytes" in found)) return { refusal: "refusal" in found ? found.refusal : "The server sent no sitemap." };
  try {
    return { ...(await reader.list(found.bytes, organization_id)), host: new URL(found.url).host };
  } catch (error) {
    if (error instanceof UnreadableFile) return { refusal: error.message };
    throw error;
  }
}

/** The wanted addresses on these hosts, without fragments. With a hundred long patterns, each takes up to 0.5 ms. */
async function keepAddresses(
  found: string[],
  hosts: ReadonlySet<string>,
  isKept: (url: URL) => boolean = () => true,
): Promise<string[]> {
  const kept: string[] = [];
  const pause = createPause();
  for (const text of found) {
    await pause();
    const url = URL.parse(text);
    if (!url || !hosts.has(url.host) || !/^https?:$/.test(url.protocol)) continue;
    url.hash = "";
    if (url.href.length <= MAX_URL_LENGTH && isKept(url)) kept.push(url.href);
  }
  return kept;
}

function isWanted(url: URL, { include, exclude }: Pick<SourceAddress, "include" | "exclude">): boolean {
  const path = pathOf(url);
  const fits = (pattern: string): boolean => matchesPath(pattern, path);
  return (include.length === 0 || include.some(fits)) && !exclude.some(fits);
}
