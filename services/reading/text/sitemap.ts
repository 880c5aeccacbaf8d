import { gunzipSync } from "node:zlib";
import { decodeXml } from "../guard/encoding.ts";
import { childElements, parseXml, textContent } from "../guard/xml.ts";
import { UnreadableFile, type Sitemap } from "../reader.ts";
import { localName } from "../slides/localNames.ts";

/** Maximum bytes of a sitemap after decompression: the limit of sitemaps.org. */
const MAX_BYTES = 50_000_000;
/** Maximum addresses of a sitemap that are read, and their total characters, because the service parses them as one JSON text. */
const MAX_ADDRESSES = 20_000;
const MAX_CHARACTERS = 2_000_000;

function inflate(bytes: Buffer): Buffer {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes;
  try {
    return gunzipSync(bytes, { maxOutputLength: MAX_BYTES });
  } catch (error) {
    throw new UnreadableFile("The sitemap is damaged, or larger than 50 MB.", { cause: error });
  }
}

/** Reads a sitemap or an index of sitemaps (sitemaps.org). Throws UnreadableFile: damaged, too large, or neither of them. */
export function readSitemap(bytes: Buffer): Sitemap {
  const root = parseXml(decodeXml(inflate(bytes)));
  const kind = localName(root);
  if (kind !== "urlset" && kind !== "sitemapindex")
    throw new UnreadableFile("The address has no sitemap: neither urlset nor sitemapindex.");
  const found: string[] = [];
  let characters = 0;
  for (const entry of childElements(root)) {
    const location = childElements(entry).find((child) => localName(child) === "loc");
    const address = location && textContent(location).trim();
    if (!address) continue;
    characters += address.length;
    if (found.length === MAX_ADDRESSES || characters > MAX_CHARACTERS) return sorted(kind, found, false);
    found.push(address);
  }
  return sorted(kind, found, true);
}

const sorted = (kind: string, found: string[], complete: boolean): Sitemap =>
  kind === "urlset" ? { sitemaps: [], pages: found, complete } : { sitemaps: found, pages: [], complete };
