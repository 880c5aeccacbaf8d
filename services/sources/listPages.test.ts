import { expect, test } from "vitest";
import { longestTurn } from "../../test/computingTime.ts";
import { listPages, type Listing } from "./listPages.ts";
import type { SourceVisit } from "./web.ts";

const url = "http://a.example/sitemap.xml";

/** The pages of a source whose sitemap has these addresses. */
function list(pages: string[], { include = [], exclude = [] }: { include?: string[]; exclude?: string[] }) {
  const file = { url, filename: "", mimetype: "", bytes: Buffer.alloc(0), etag: null, last_modified: null };
  const visit: SourceVisit = { fetch: async () => file };
  const reader = { list: async () => ({ pages, sitemaps: [], complete: true }) };
  return listPages(visit, reader, { url, include, exclude, organization_id: "o" });
}

test("only wanted pages of the source's host are listed, once and without fragments", async () => {
  const pages = ["docs/a", "docs/a#part", "docs/private/b", "blog/c"].map((path) => `http://a.example/${path}`);
  const listing = await list([...pages, "http://b.example/docs/d"], { include: ["/docs/"], exclude: ["/*/private/"] });
  expect(listing).toEqual({ urls: ["http://a.example/docs/a"], gap: null });
});

test("a full sitemap and as many patterns as a source may have do not hold the event loop", async () => {
  const pages = Array.from({ length: 20_000 }, (_, n) => `http://a.example/${"a".repeat(70)}${n}`);
  const patterns = Array.from({ length: 50 }, () => `/${"*a".repeat(60)}*b`);
  let listing: Listing | undefined;
  const work = async () => void (listing = await list(pages, { exclude: patterns }));
  expect(await longestTurn(work)).toBeLessThan(50);
  expect(listing!.gap).toContain("more pages than are read");
});
