import type { ElementContent, Root } from "hast";
import { type Element, findAll, parseXml } from "../guard/xml.ts";
import { openZip, type Zip } from "../guard/zip.ts";
import { mainContent } from "../html/mainContent.ts";
import { xhtmlToHtml, parseHtml } from "../html/parseHtml.ts";
import { toMarkdown } from "../html/toMarkdown.ts";
import { eachElement, findElements, isElement, property } from "../html/tree.ts";
import { UnreadableFile } from "../reader.ts";

const PAGE = /^(?:application\/xhtml\+xml|text\/html|application\/x-dtbook\+xml)$/;

const findByName = (root: Element, name: string): Element[] => {
  const prefixed = root.name.includes(":") ? root.name.slice(0, root.name.indexOf(":") + 1) : "";
  return [...findAll(root, name), ...(prefixed ? findAll(root, prefixed + name) : [])];
};

const requireXml = (zip: Zip, name: string): Element => {
  const xml = zip.text(name);
  if (xml === undefined) throw new UnreadableFile(`The file is damaged: it contains no ${name}.`);
  return parseXml(xml);
};

/** The part and the id that a link refers to. `..` stops at the root of the archive. */
const resolveHref = (from: string, href: string): { part: string; id: string } => {
  const url = new URL(href, `epub:/${encodeURI(from)}`);
  return { part: decodeURIComponent(url.pathname.slice(1)), id: decodeURIComponent(url.hash.slice(1)) };
};

const tryResolve = (from: string, href: string): { part: string; id: string } | undefined => {
  try {
    return resolveHref(from, href);
  } catch {
    return undefined;
  }
};

/** The pages in reading order, without the table of contents, which repeats their headings. */
const readSpine = (zip: Zip): string[] => {
  const rootfile = findByName(requireXml(zip, "META-INF/container.xml"), "rootfile")[0]?.attributes["full-path"];
  if (!rootfile) throw new UnreadableFile("The file is damaged: it names no book.");
  const book = requireXml(zip, rootfile);
  const items = new Map(findByName(book, "item").map((item) => [item.attributes["id"], item.attributes]));
  return findByName(book, "itemref").flatMap(({ attributes }) => {
    const item = items.get(attributes["idref"]);
    if (!item || !PAGE.test(item["media-type"] ?? "") || /\bnav\b/.test(item["properties"] ?? "")) return [];
    const target = tryResolve(rootfile, item["href"] ?? "");
    return target ? [target.part] : [];
  });
};

/** Makes ids and links unique across pages, so that a note may be on another page. */
const qualifyIds = (page: Root, name: string): void =>
  eachElement(page, (node) => {
    const id = property(node, "id");
    if (id) node.properties["id"] = `${name}#${id}`;
    const href = property(node, "href");
    if (node.tagName !== "a" || href === "" || /^[a-z][a-z0-9+.-]*:/i.test(href)) return;
    const target = tryResolve(name, href);
    if (target) node.properties["href"] = `#${encodeURIComponent(`${target.part}#${target.id}`)}`;
  });

const readPage = (zip: Zip, name: string): ElementContent[] => {
  const xhtml = zip.text(name);
  if (xhtml === undefined) return [];
  const page = parseHtml(xhtmlToHtml(xhtml));
  qualifyIds(page, name);
  const content = mainContent(page);
  const [body] = findElements(content, ({ tagName }) => tagName === "body");
  return (body ?? content).children.filter((child) => isElement(child) || child.type === "text") as ElementContent[];
};

/** Obfuscated fonts are fine; an encrypted page means that the book has copy protection. */
const refuseEncrypted = (zip: Zip, pages: string[]): void => {
  const encrypted = zip.text("META-INF/encryption.xml") ?? "";
  if (pages.some((page) => encrypted.includes(`"${encodeURI(page)}"`))) {
    throw new UnreadableFile("The file is protected by its publisher.");
  }
};

/** Reads an EPUB in the order of the book: one Markdown text without pages. Throws UnreadableFile. */
export const readEpub = async (bytes: Uint8Array): Promise<string[]> => {
  const zip = openZip(bytes);
  const pages = readSpine(zip);
  refuseEncrypted(zip, pages);
  return [toMarkdown({ type: "root", children: pages.flatMap((name) => readPage(zip, name)) })];
};
