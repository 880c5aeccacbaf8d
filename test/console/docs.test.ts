import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parse } from "parse5";
import { beforeAll, describe, expect, test } from "vitest";
import { DOCS_FOLDER } from "#infra/consoleFiles.ts";
import { findSections, type SearchIndex } from "../../console/docs/find.ts";
import { findSources } from "../../dev/console/docs/buildDocs.ts";
import { GROUPS } from "../../dev/console/docs/groups.ts";
import { startService, type Service } from "../http/service.ts";

/* The documentation, as the service serves it: every page and every link. */

const root = fileURLToPath(new URL("../..", import.meta.url));
/** What a page may weigh, with gzip: the page, its script and its style; and the index that search loads. */
const MAX_PAGE_KB = 25;
const MAX_INDEX_KB = 140;

interface Tag {
  name: string;
  attributes: Record<string, string>;
  text: string;
}
interface Page {
  url: string;
  html: string;
  tags: Tag[];
  headers: Headers;
}

let service: Service;
const pages = new Map<string, Page>();

const textOf = (node: any): string => node.value ?? (node.childNodes ?? []).map(textOf).join("");
const tagsOf = (node: any): Tag[] => [
  ...(node.tagName
    ? [
        {
          name: node.tagName,
          attributes: Object.fromEntries(node.attrs.map(({ name, value }: any) => [name, value])),
          text: textOf(node),
        },
      ]
    : []),
  ...(node.childNodes ?? []).flatMap(tagsOf),
];
const of = ({ tags }: Page, name: string) => tags.filter((tag) => tag.name === name);
const isPage = (url: string) => url.startsWith(`${service.base}/docs/`);

/** Every page that can be reached from the first one. */
async function crawl(url: string): Promise<void> {
  if (pages.has(url)) return;
  const response = await fetch(url);
  expect([url, response.status]).toEqual([url, 200]);
  const html = await response.text();
  const page = { url, html, tags: tagsOf(parse(html)), headers: response.headers };
  pages.set(url, page);
  const links = of(page, "a").map(({ attributes }) => new URL(attributes["href"]!, url).href.split("#")[0]!);
  for (const link of new Set(links.filter(isPage))) await crawl(link);
}

beforeAll(async () => {
  service = await startService();
  await crawl(`${service.base}/docs/`);
});

describe("the pages of the documentation", () => {
  test("are all Markdown files of docs/, the README, the start page and the list of decisions", async () => {
    const sources = await findSources(root);
    expect(sources.length).toBeGreaterThan(30);
    expect(pages.size).toBe(sources.length + 2);
    const listed = GROUPS.flatMap(({ entries }) => entries.map(({ source }) => source));
    expect(listed.toSorted()).toEqual(sources.filter((source) => !source.startsWith("docs/adr/")).toSorted());
  });

  test("have a title and a heading of their own, and a description", () => {
    const titles = [...pages.values()].map((page) => of(page, "title")[0]!.text);
    expect(new Set(titles).size).toBe(pages.size);
    for (const page of pages.values()) {
      expect([page.url, of(page, "h1").length]).toEqual([page.url, 1]);
      const description = of(page, "meta").find(({ attributes }) => attributes["name"] === "description");
      expect(description!.attributes["content"]!.length, page.url).toBeGreaterThan(10);
    }
  });

  test("have only links to existing pages and headings", async () => {
    const dead: string[] = [];
    for (const page of pages.values())
      for (const { attributes } of of(page, "a")) {
        const { href, hash } = new URL(attributes["href"]!, page.url);
        const target = pages.get(href.split("#")[0]!);
        const id = decodeURIComponent(hash.slice(1));
        if (target ? id && !target.tags.some((tag) => tag.attributes["id"] === id) : isPage(href))
          dead.push(`${page.url}: ${attributes["href"]}`);
      }
    expect(dead).toEqual([]);
    const others = [...pages.values()].flatMap((page) =>
      of(page, "a").map(({ attributes }) => new URL(attributes["href"]!, page.url)),
    );
    const ours = others.filter(({ href, origin }) => origin === service.base && !isPage(href));
    const ways = [...new Set(ours.map(({ pathname }) => pathname))];
    expect(ways).toEqual(expect.arrayContaining(["/console/", "/reference"]));
    for (const way of ways) expect([way, (await fetch(service.base + way)).ok]).toEqual([way, true]);
  });

  test("have no inline code or style, and load everything from this service", () => {
    for (const page of pages.values()) {
      expect(page.headers.get("content-security-policy")).toContain("default-src 'none'; script-src 'self'");
      expect(page.headers.get("x-content-type-options")).toBe("nosniff");
      expect(of(page, "style")).toEqual([]);
      expect(page.tags.filter(({ attributes }) => "style" in attributes || "onclick" in attributes)).toEqual([]);
      for (const { attributes, text } of of(page, "script")) expect([!!attributes["src"], text]).toEqual([true, ""]);
      const loaded = [
        ...of(page, "script"),
        ...of(page, "link").filter(({ attributes }) => attributes["rel"] !== "prev"),
      ];
      for (const { attributes } of loaded)
        expect(isPage(new URL(attributes["src"] ?? attributes["href"]!, page.url).href)).toBe(true);
    }
  });

  test("show existing pictures only, each with an alternative text", async () => {
    const pictures = [...pages.values()].flatMap((page) =>
      of(page, "img").map(({ attributes }) => ({ alt: attributes["alt"], url: new URL(attributes["src"]!, page.url) })),
    );
    expect(pictures.length).toBeGreaterThan(2);
    for (const { alt, url } of pictures) {
      expect([url.href, alt!.length > 10, isPage(url.href)]).toEqual([url.href, true, true]);
      expect((await fetch(url)).headers.get("content-type")).toBe("image/png");
    }
  });

  test(`weigh at most ${MAX_PAGE_KB} kB with their script and style, and the index for search ${MAX_INDEX_KB} kB`, () => {
    const size = (name: string) => readFileSync(join(DOCS_FOLDER, `${name}.gz`)).length / 1000;
    const [start] = pages.values();
    const assets = [of(start!, "script")[0]!.attributes["src"]!, of(start!, "link")[1]!.attributes["href"]!];
    const shell = assets.reduce((sum, name) => sum + size(name), 0);
    for (const { url } of pages.values()) {
      const path = new URL(url).pathname.slice("/docs/".length) || "index";
      expect(size(`${path}.html`) + shell, path).toBeLessThanOrEqual(MAX_PAGE_KB);
    }
    expect(size(of(start!, "form")[0]!.attributes["data-index"]!)).toBeLessThanOrEqual(MAX_INDEX_KB);
  });
});

describe("the Markdown of the documentation", () => {
  test("names only files that exist", async () => {
    const missing = (await findSources(root)).flatMap((source) =>
      [...readFileSync(join(root, source), "utf8").matchAll(/\]\((?!https?:|#|\/)([^)#\s]+)/g)]
        .map(([, link]) => join(root, source, "..", link!))
        .filter((path) => !existsSync(path)),
    );
    expect(missing).toEqual([]);
  });

  test("becomes text if it contains HTML, and a path if it names a file that is not served", () => {
    const { html } = pages.get(`${service.base}/docs/architecture`)!;
    expect(html).toContain("<code>");
    expect(pages.get(`${service.base}/docs/overview`)!.html).toContain("<code>services/handle.ts</code>");
  });
});

describe("an address below /docs", () => {
  test("without a page is a 404: a page for browsers, an error for programs", async () => {
    const hostile = [
      "nothing",
      "assets/none.js",
      "404",
      "..%2f..%2fpackage.json",
      "%2e%2e/%2e%2e/.data/credentials.json",
      "assets/%2e%2e/manifest.json",
      "__proto__",
      "%00",
      "<script>",
      "index.html/",
      "a/".repeat(200),
    ];
    for (const path of hostile) {
      const answer = await fetch(`${service.base}/docs/${path}`);
      const body = await answer.text();
      expect([path, answer.status, body]).toEqual([path, 404, expect.stringContaining('"not_found"')]);
    }
    const shown = await fetch(`${service.base}/docs/no/such/page`, { headers: { accept: "text/html" } });
    expect([shown.status, shown.headers.get("content-type")]).toEqual([404, "text/html; charset=utf-8"]);
    expect(await shown.text()).toContain('<base href="/docs/">');
  });

  test("has only relative links, so that it works behind a proxy that adds a path", () => {
    for (const page of pages.values())
      for (const { attributes } of of(page, "a")) expect(attributes["href"]).not.toMatch(/^\//);
  });

  test("is not sent again if the browser has it", async () => {
    const etag = pages.get(`${service.base}/docs/`)!.headers.get("etag")!;
    expect((await fetch(`${service.base}/docs/`, { headers: { "if-none-match": etag } })).status).toBe(304);
  });
});

describe("search in the documentation", () => {
  const search = async (query: string) => {
    const [start] = pages.values();
    const url = new URL(of(start!, "form")[0]!.attributes["data-index"]!, start!.url);
    const hits = findSections((await (await fetch(url)).json()) as SearchIndex, query);
    return hits.map(({ path, anchor }) => `${path}#${anchor}`);
  };

  test("finds words by their beginning, in any order, and the best section first", async () => {
    expect((await search("backup restore"))[0]).toBe("operating#backup-and-restore");
    expect((await search("resto back"))[0]).toBe("operating#backup-and-restore");
    expect((await search("glossary"))[0]).toBe("architecture#glossary");
  });

  test("finds an exact phrase", async () => {
    expect(await search('"Nothing acknowledged is lost"')).toContain("overview#");
    expect(await search('"lost is acknowledged Nothing"')).toEqual([]);
  });

  test("treats any text as plain words", async () => {
    for (const query of ["", '"', "(((", "[a-", "\\", "a".repeat(5000)]) expect(await search(query)).toBeDefined();
    expect(await search("zzzznothing")).toEqual([]);
  });
});
