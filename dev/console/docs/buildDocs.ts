import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { glob } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { DECISIONS, GROUPS } from "./groups.ts";
import { type Page, readPage } from "./readPage.ts";
import { type FindPage, relativeLink, renderContent } from "./renderContent.ts";
import { type Assets, escapeHtml, linksOf, type RenderedPage, renderPage } from "./renderPage.ts";

/*
 * Builds the documentation site: the Markdown of `docs/` and the README, a start page, a list of the decisions, and a search index.
 * `test/console/docs.test.ts` checks every page and link.
 */

const OVERVIEW = "README.md";

/** The path on the site, without `docs/` and the file extension. */
const sitePath = (source: string): string =>
  source === OVERVIEW ? "overview" : source.replace(/^docs\//, "").replace(/\.md$/, "");

/** All Markdown of the site, from the root of the repository. */
export const findSources = async (root: string): Promise<string[]> => [
  OVERVIEW,
  ...(await Array.fromAsync(glob("docs/**/*.md", { cwd: root }))).sort(),
];

/** All pictures of the site, from the root of the repository. */
export const findPictures = async (root: string): Promise<string[]> =>
  (await Array.fromAsync(glob("docs/pictures/*.png", { cwd: root }))).sort();

const orderOf = (sources: string[]): string[] => {
  const listed = GROUPS.flatMap(({ entries }) => entries.map(({ source }) => source));
  return [...listed, ...sources.filter((source) => !listed.includes(source))];
};

async function readPages(root: string): Promise<Page[]> {
  const sources = orderOf(await findSources(root));
  return sources.map((source) => readPage(source, sitePath(source), readFileSync(join(root, source), "utf8")));
}

/** Writes the index for the browser's search. It is small enough to be scanned completely at every keystroke. */
function writeIndex(pages: Page[], folder: string): string {
  const index = {
    pages: pages.map(({ path, title }) => ({ path, title })),
    sections: pages.flatMap(({ sections }, page) =>
      sections.map(({ anchor, heading, text }) => ({ page, anchor, heading, text })),
    ),
  };
  const json = JSON.stringify(index);
  const hash = createHash("sha256").update(json).digest("base64url").replace(/[-_]/g, "").slice(0, 8);
  const name = `assets/search-${hash}.json`;
  writeFileSync(join(folder, name), json);
  return name;
}

function renderStart(findPage: FindPage): RenderedPage {
  const cards = GROUPS.map((group) => {
    const items = linksOf(group, "", findPage).map(
      ({ href, label, about }) =>
        `<li><a href="${escapeHtml(href)}">${escapeHtml(label)}</a><p>${escapeHtml(about)}</p></li>`,
    );
    return `<section><h2>${group.title}</h2><ul class="cards">${items.join("")}</ul></section>`;
  });
  const description = "How to use, run and extend this service. Everything here is part of it and works offline.";
  return {
    path: "",
    title: "Documentation",
    description,
    headings: [],
    body: `<p>${description}</p>${cards.join("")}`,
  };
}

function renderDecisions(pages: Page[]): RenderedPage {
  const items = pages
    .filter(({ source }) => source.startsWith(`${DECISIONS.folder}/`))
    .map(({ path, title, description }) => {
      const href = relativeLink(DECISIONS.path, path);
      return `<li><a href="${href}">${escapeHtml(title)}</a><p>${escapeHtml(description)}</p></li>`;
    });
  const body = `<p>${DECISIONS.about}</p><ul class="cards">${items.join("")}</ul>`;
  return { path: DECISIONS.path, title: DECISIONS.label, description: DECISIONS.about, headings: [], body };
}

const MISSING: RenderedPage = {
  path: "",
  title: "There is no such page",
  description: "There is no such page.",
  headings: [],
  body: `<p>The address is mistyped, or the page has another name now. Search for it, or see <a href="./">all pages</a>.</p>`,
};

/** Names of the bundled script and style, from Vite's manifest. */
function readAssets(folder: string): Omit<Assets, "index"> {
  const manifest = JSON.parse(readFileSync(join(folder, "manifest.json"), "utf8")) as Record<
    string,
    { file: string; css?: string[] }
  >;
  const { file, css } = manifest["main.ts"]!;
  return { script: file, style: css![0]! };
}

/** Writes the pages next to the bundled script and style in `folder`. */
export async function buildDocs(root: string, folder: string): Promise<void> {
  const pages = await readPages(root);
  const targets = new Map(pages.map(({ source, path, title }) => [source, { path, title }]));
  targets
    .set(DECISIONS.folder, { path: DECISIONS.path, title: DECISIONS.label })
    .set("docs", { path: "", title: "Docs" });
  const findPage: FindPage = (source) => targets.get(source);
  const assets = { ...readAssets(folder), index: writeIndex(pages, folder) };
  const write = (name: string, html: string) => {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, `${name}.html`), html);
  };
  for (const [at, page] of pages.entries()) {
    const rendered = { ...page, body: renderContent(page, findPage) };
    write(page.path, renderPage(rendered, { assets, findPage, previous: pages[at - 1], next: pages[at + 1] }));
  }
  write("index", renderPage(renderStart(findPage), { assets, findPage, next: pages[0] }));
  write(DECISIONS.path, renderPage(renderDecisions(pages), { assets, findPage }));
  write("404", renderPage(MISSING, { assets, findPage, base: "/docs/" }));
  copyFileSync(join(root, "console", "icon.svg"), join(folder, "icon.svg"));
  for (const picture of await findPictures(root)) {
    mkdirSync(join(folder, "pictures"), { recursive: true });
    copyFileSync(join(root, picture), join(folder, "pictures", basename(picture)));
  }
}
