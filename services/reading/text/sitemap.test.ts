import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { UnreadableFile } from "../reader.ts";
import { readSitemap } from "./sitemap.ts";

const read = (xml: string) => readSitemap(Buffer.from(xml));

describe("a sitemap", () => {
  test("lists pages or sitemaps with any namespace prefix", () => {
    const pages =
      "<urlset><url><loc> http://a/1 </loc><lastmod>x</lastmod></url><url/><url><loc>http://a/2</loc></url></urlset>";
    expect(read(pages)).toEqual({ sitemaps: [], pages: ["http://a/1", "http://a/2"], complete: true });
    const index = '<s:sitemapindex xmlns:s="x"><s:sitemap><s:loc>http://a/&amp;1</s:loc></s:sitemap></s:sitemapindex>';
    expect(readSitemap(gzipSync(index))).toEqual({ sitemaps: ["http://a/&1"], pages: [], complete: true });
  });

  test("is decoded as it declares", () => {
    const xml = "<?xml version='1.0' encoding='iso-8859-1'?><urlset><url><loc>http://a/größe</loc></url></urlset>";
    expect(readSitemap(Buffer.from(xml, "latin1")).pages).toEqual(["http://a/größe"]);
  });

  test("is cut after 20,000 addresses", () => {
    const { pages, complete } = read(`<urlset>${"<url><loc>http://a/</loc></url>".repeat(20_001)}</urlset>`);
    expect([pages.length, complete]).toEqual([20_000, false]);
  });

  test.each([
    ["a feed", Buffer.from("<rss/>")],
    ["no XML", Buffer.from("hello")],
    ["a text of another file", Buffer.from('<!DOCTYPE a [<!ENTITY b SYSTEM "c">]><urlset>&b;</urlset>')],
    ["a bomb", gzipSync(Buffer.alloc(60_000_000))],
    ["damaged gzip", gzipSync("<urlset/>").subarray(0, 12)],
  ])("that is %s is refused with a clear message", (_, bytes) => {
    expect(() => readSitemap(bytes)).toThrow(UnreadableFile);
  });
});
