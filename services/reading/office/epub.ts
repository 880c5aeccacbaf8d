import type { ElementContent, Root } from "hast";
import { type Element, findAll, parseXml } from "../guard/xml.ts";
import { openZip, type Zip } from "../guard/zip.ts";
import { contentOf } from "../html/content.ts";
import { htmlOfXhtml, parseHtml } from "../html/parseHtml.ts";
import { toMarkdown } from "../html/toMarkdown.ts";
import { eachElement, findElements, isElement, property } from "../html/tree.ts";
import { UnreadableFile } from "../reader.ts";

const PAGE = /^(?:application\/xhtml\+xml|text\/html|application\/x-dtbook\+xml)$/;

const named = (root: Element, name: string): Element[] => {
  const prefixed = root.name.includes(":") ? root.name.slice(0, root.name.indexOf(":") + 1) : "";
  return [...findAll(root, name), ...(prefixed ? findAll(root, prefixed + name) : [])];
};

const requireXml = (zip: Zip, name: string): Element => {
  const xml = zip.text(name);
  if (xml === undefined) throw new UnreadableFile(`The file is damaged: it contains no ${name}.`);
  return parseXml(xml);
};

/** Where an address leads, as the name of a part. The root of no file system: `..` ends at the archive's top. */
const resolve = (from: string, href: string): { part: string; id: string } => {
  const url = new URL(href, `epub:/${encodeURI(from)}`);
  return { part: decodeURIComponent(url.pathname.slice(1)), id: decodeURIComponent(url.hash.slice(1)) };
};

const tryResolve = (from: string, href: string): { part: string; id: string } | undefined => {
  try {
    return resolve(from, href);
  } catch {
    return undefined;
  }
};

/** The pages in reading order; the list of contents repeats their headings. */
const spineOf = (zip: Zip): string[] => {
  const rootfile = named(requireXml(zip, "META-INF/container.xml"), "rootfile")[0]?.attributes["full-path"];
  if (!rootfile) throw new UnreadableFile("The file is damaged: it names no book.");
  const book = requireXml(zip, rootfile);
  const items = new Map(named(book, "item").map((item) => [item.attributes["id"], item.attributes]));
  return named(book, "itemref").flatMap(({ attributes }) => {
    const item = items.get(attributes["idref"]);
    if (!item || !PAGE.test(item["media-type"] ?? "") || /\bnav\b/.test(item["properties"] ?? "")) return [];
    const place = tryResolve(rootfile, item["href"] ?? "");
    return place ? [place.part] : [];
  });
};

/** Ids and links of all pages in one space, so that a note may stand on another page. */
const shareIds = (page: Root, name: string): void =>
  eachElement(page, (node) => {
    const id = property(node, "id");
    if (id) node.properties["id"] = `${name}#${id}`;
    const href = property(node, "href");
    if (node.tagName !== "a" || href === "" || /^[a-z][a-z0-9+.-]*:/i.test(href)) return;
    const place = tryResolve(name, href);
    if (place) node.properties["href"] = `#${encodeURIComponent(`${place.part}#${place.id}`)}`;
  });

const readPage = (zip: Zip, name: string): ElementContent[] => {
  const xhtml = zip.text(name);
  if (xhtml === undefined) return [];
  const page = parseHtml(htmlOfXhtml(xhtml));
  shareIds(page, name);
  const content = contentOf(page);
  const [body] = findElements(content, ({ tagName }) => tagName === "body");
  return (body ?? content).children.filter((child) => isElement(child) || child.type === "text") as ElementContent[];
};

/** Fonts may be disguised; a page that is encrypted is a page sold with a lock. */
const refuseLocked = (zip: Zip, pages: string[]): void => {
  const encrypted = zip.text("META-INF/encryption.xml") ?? "";
  if (pages.some((page) => encrypted.includes(`"${encodeURI(page)}"`))) {
    throw new UnreadableFile("The file is protected by its publisher.");
  }
};

/** Reads an EPUB, its pages in the book's order: one Markdown, no pages. Throws UnreadableFile. */
export const readEpub = async (bytes: Uint8Array): Promise<string[]> => {
  const zip = openZip(bytes);
  const pages = spineOf(zip);
  refuseLocked(zip, pages);
  return [toMarkdown({ type: "root", children: pages.flatMap((name) => readPage(zip, name)) })];
};
