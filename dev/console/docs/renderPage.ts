import { API_REFERENCE, DECISIONS, GROUPS } from "./groups.ts";
import type { Heading } from "./readPage.ts";
import { relativeLink, type FindPage } from "./renderContent.ts";

/** Names of the built files that every page loads, from the site's root. */
export interface Assets {
  script: string;
  style: string;
  index: string;
}

/** A rendered page without the surrounding layout. */
export interface RenderedPage {
  path: string;
  title: string;
  description: string;
  body: string;
  headings: Heading[];
}

interface Neighbour {
  path: string;
  title: string;
}

export const escapeHtml = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");

const link = (href: string, label: string, attributes = ""): string =>
  `<a href="${escapeHtml(href)}"${attributes}>${escapeHtml(label)}</a>`;

/** A group's links on a page: first the Markdown pages, then those that the service and the build add. */
export function linksOf(group: (typeof GROUPS)[number], from: string, findPage: FindPage) {
  const entries = group.entries.map(({ source, label, about }) => {
    const { path } = findPage(source)!;
    return { href: relativeLink(from, path), label, about, isCurrent: path === from };
  });
  if (group.title === API_REFERENCE.group)
    entries.unshift({ ...API_REFERENCE, href: relativeLink(from, `../${API_REFERENCE.href}`), isCurrent: false });
  if (group === GROUPS.at(-1)) {
    const isCurrent = from === DECISIONS.path || from.startsWith("adr/");
    entries.push({ ...DECISIONS, href: relativeLink(from, DECISIONS.path), isCurrent });
  }
  return entries;
}

function renderNavigation(from: string, findPage: FindPage): string {
  const groups = GROUPS.map((group) => {
    const items = linksOf(group, from, findPage).map(
      ({ href, label, isCurrent }) => `<li>${link(href, label, isCurrent ? ' aria-current="page"' : "")}</li>`,
    );
    return `<h2>${group.title}</h2><ul>${items.join("")}</ul>`;
  });
  return `<nav class="pages" id="pages" aria-label="Pages">${groups.join("")}</nav>`;
}

function renderContents(headings: Heading[]): string {
  const shown = headings.filter(({ depth }) => depth === 2 || depth === 3);
  if (shown.length < 2) return "";
  const items = shown.map(({ depth, text, anchor }) => `<li class="depth-${depth}">${link(`#${anchor}`, text)}</li>`);
  return `<nav class="contents" aria-label="On this page"><h2>On this page</h2><ul>${items.join("")}</ul></nav>`;
}

function renderNeighbours(from: string, previous: Neighbour | undefined, next: Neighbour | undefined): string {
  const side = (neighbour: Neighbour | undefined, rel: string, word: string) =>
    neighbour
      ? `<a class="${rel}" rel="${rel}" href="${relativeLink(from, neighbour.path)}"><span>${word}</span> ${escapeHtml(neighbour.title)}</a>`
      : "";
  if (!previous && !next) return "";
  return `<nav class="neighbours" aria-label="Previous and next">${side(previous, "prev", "Previous")}${side(next, "next", "Next")}</nav>`;
}

interface Surroundings {
  assets: Assets;
  findPage: FindPage;
  previous?: Neighbour | undefined;
  next?: Neighbour | undefined;
  /** The base URL for relative links, for a page that is shown at any path. */
  base?: string;
}

/** The complete page. It has no inline code or style, and works without its script, except for search. */
export function renderPage(page: RenderedPage, { assets, findPage, previous, next, base }: Surroundings): string {
  const { path, title, description, body, headings } = page;
  const root = relativeLink(path, "");
  const to = (file: string) => escapeHtml(relativeLink(path, file));
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
${base ? `<base href="${base}">\n` : ""}<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="description" content="${escapeHtml(description)}">
<title>${escapeHtml(title)} · Docs</title>
<link rel="icon" type="image/svg+xml" href="${to("icon.svg")}">
<link rel="stylesheet" href="${to(assets.style)}">
<script type="module" blocking="render" src="${to(assets.script)}"></script>
</head>
<body>
${base ? "" : '<a class="skip" href="#content">Skip to the text</a>\n'}<header class="top">
<p class="brand"><a href="${root}">Docs</a></p>
<form class="search" role="search" hidden data-index="${to(assets.index)}" data-root="${root}">
<label class="hidden-text" for="query">Search the docs</label>
<input id="query" type="search" placeholder="Search" autocomplete="off" spellcheck="false" aria-keyshortcuts="/">
<kbd aria-hidden="true">/</kbd>
<div class="results" hidden><p role="status"></p><ol></ol></div>
</form>
<p class="ways">${link(relativeLink(path, "../console/"), "Console")} <a class="to-pages" href="#pages">All pages</a></p>
</header>
<div class="columns">
${renderNavigation(path, findPage)}
<main id="content" tabindex="-1">
<article>
<h1>${escapeHtml(title)}</h1>
${renderContents(headings)}
${body}
</article>
${renderNeighbours(path, previous, next)}
</main>
</div>
</body>
</html>
`;
}
