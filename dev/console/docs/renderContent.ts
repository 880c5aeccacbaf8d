import { posix } from "node:path";
import type { Element, ElementContent, Root, RootContent as HastContent } from "hast";
import { toHtml } from "hast-util-to-html";
import type { Image, Link, Nodes, PhrasingContent } from "mdast";
import { toHast } from "mdast-util-to-hast";
import { type Page, textOf } from "./readPage.ts";

/** Finds the page for a file of the repository; undefined if the site has none. */
export type FindPage = (source: string) => { path: string; title: string } | undefined;

/** The relative URL from one page of the site to another, which works below any path of a proxy. */
export function relativeLink(from: string, to: string): string {
  const link = posix.relative(posix.dirname(`/docs/${from || "index"}`), `/docs/${to}`) || ".";
  return to === "" || to.endsWith("/") ? `${link}/` : link;
}

const isElsewhere = (url: string): boolean => /^[a-z][a-z0-9+.-]*:/i.test(url);

/** Shows the path of a file that the site does not have. */
function showPath(link: Link, path: string): PhrasingContent[] {
  const code: PhrasingContent = { type: "inlineCode", value: path };
  if (textOf(link) === path) return [code];
  return [...link.children, { type: "text", value: " (" }, code, { type: "text", value: ")" }];
}

function resolveLink(link: Link, page: Page, findPage: FindPage): PhrasingContent[] {
  const { url } = link;
  if (isElsewhere(url) || url.startsWith("#")) return [link];
  // a URL of the service itself, such as /reference
  if (url.startsWith("/")) return [{ ...link, url: relativeLink(page.path, `..${url}`) }];
  const [path = "", fragment] = url.split("#");
  const source = posix.join(posix.dirname(page.source), path).replace(/\/$/, "");
  const target = findPage(source);
  if (target === undefined) return showPath(link, source);
  // "operating.md" is a page's name in the repository only, so its title is shown instead
  const children: PhrasingContent[] = /^\S+\.md$/.test(textOf(link))
    ? [{ type: "text", value: target.title }]
    : link.children;
  return [{ ...link, children, url: relativeLink(page.path, target.path) + (fragment ? `#${fragment}` : "") }];
}

/** All pictures of the repository are in `docs/pictures`. */
const resolvePicture = (image: Image, page: Page): Image =>
  isElsewhere(image.url) ? image : { ...image, url: relativeLink(page.path, `pictures/${posix.basename(image.url)}`) };

function resolveLinks<T extends Nodes>(node: T, page: Page, findPage: FindPage): T {
  if (!("children" in node)) return node;
  const children = (node.children as Nodes[]).flatMap((child): Nodes | Nodes[] =>
    child.type === "link"
      ? resolveLink(child, page, findPage)
      : child.type === "image"
        ? resolvePicture(child, page)
        : resolveLinks(child, page, findPage),
  );
  return { ...node, children };
}

const element = (tagName: string, properties: Element["properties"], children: ElementContent[]): Element => ({
  type: "element",
  tagName,
  properties,
  children,
});

const wordsOf = (node: ElementContent): string =>
  node.type === "text" ? node.value : node.type === "element" ? node.children.map(wordsOf).join("") : "";

/** A table wider than the page scrolls by itself, also by keyboard. */
function wrapTable(table: Element): Element {
  const cells = table.children
    .flatMap((part) => (part.type === "element" && part.tagName === "thead" ? part.children : []))
    .flatMap((row) => (row.type === "element" ? row.children : []))
    .filter((cell) => cell.type === "element");
  // an empty header cell says nothing to a screen reader
  for (const cell of cells) if (wordsOf(cell) === "") cell.tagName = "td";
  const label = cells.map(wordsOf).filter(Boolean).join(", ");
  const name = `Table${label && `: ${label}`}`;
  return element("div", { className: ["table"], role: "group", tabIndex: 0, ariaLabel: name }, [table]);
}

function decorate(node: HastContent): HastContent {
  if (node.type !== "element") return node;
  if (node.tagName === "pre")
    return element("div", { className: ["code"] }, [{ ...node, properties: { tabIndex: 0 } }]);
  const children = node.children.map((child) => decorate(child) as ElementContent);
  return node.tagName === "table" ? wrapTable({ ...node, children }) : { ...node, children };
}

/** Gives headings their anchors and links to copy, except those inside of lists and quotes. */
function linkHeadings(children: HastContent[], anchors: string[]): HastContent[] {
  let at = 0;
  return children.map((node) => {
    if (node.type !== "element" || !/^h[1-6]$/.test(node.tagName)) return node;
    const id = anchors[at++]!;
    const sign = { href: `#${id}`, className: ["anchor"], ariaLabel: `Link to: ${wordsOf(node)}` };
    return element("div", { className: ["heading"] }, [
      { ...node, properties: { ...node.properties, id } },
      element("a", sign, [{ type: "text", value: "#" }]),
    ]);
  });
}

/** The content of a page as HTML, without its title. */
export function renderContent(page: Page, findPage: FindPage): string {
  const tree = resolveLinks({ type: "root" as const, children: page.content }, page, findPage);
  const anchors = page.headings.map(({ anchor }) => anchor);
  const root = toHast(tree) as Root;
  const children = linkHeadings(root.children.map(decorate), anchors);
  return toHtml({ ...root, children });
}
