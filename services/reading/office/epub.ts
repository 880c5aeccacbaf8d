import type { Element as HtmlElement, ElementContent, Root } from "hast";
import { type Element, findAll, parseXml } from "../guard/xml.ts";
import { openZip, type Zip } from "../guard/zip.ts";
import { mainContent } from "../html/mainContent.ts";
import { xhtmlToHtml, parseHtml } from "../html/parseHtml.ts";
import { toMarkdown } from "../html/toMarkdown.ts";
import { eachElement, findElements, isElement, property } from "../html/tree.ts";
import { UnreadableFile, type Warn } from "../reader.ts";
import { ignoreWarnings, warnOfCount } from "../warnings.ts";

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

interface Spine {
  pages: string[];
  /** Pages that consist of a picture. */
  pictures: number;
  /** Pages that are missing in the book. */
  missing: number;
}

/** The pages in reading order, without the table of contents, which repeats their headings. */
const readSpine = (zip: Zip): Spine => {
  const rootfile = findByName(requireXml(zip, "META-INF/container.xml"), "rootfile")[0]?.attributes["full-path"];
  if (!rootfile) throw new UnreadableFile("The file is damaged: it names no book.");
  const book = requireXml(zip, rootfile);
  const items = new Map(findByName(book, "item").map((item) => [item.attributes["id"], item.attributes]));
  const spine: Spine = { pages: [], pictures: 0, missing: 0 };
  for (const { attributes } of findByName(book, "itemref")) {
    const item = items.get(attributes["idref"]);
    if (/\bnav\b/.test(item?.["properties"] ?? "")) continue;
    const part = item && tryResolve(rootfile, item["href"] ?? "")?.part;
    if (item?.["media-type"]?.startsWith("image/")) spine.pictures += 1;
    else if (part === undefined || !PAGE.test(item?.["media-type"] ?? "") || !zip.has(part)) spine.missing += 1;
    else spine.pages.push(part);
  }
  // a book that names a page thousands of times would grow without an end
  return { ...spine, pages: [...new Set(spine.pages)] };
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

/** Pictures of a page without a description. */
const isPicture = (node: HtmlElement): boolean =>
  node.tagName === "img" ? property(node, "alt").trim() === "" : node.tagName === "image";

const isFile = ({ tagName }: HtmlElement): boolean => /^(?:audio|video|iframe|object|embed)$/.test(tagName);

interface Page {
  content: ElementContent[];
  pictures: number;
  /** Recordings, and embedded files. */
  files: number;
}

const readPage = (zip: Zip, name: string, warn: Warn): Page => {
  const page = parseHtml(xhtmlToHtml(zip.text(name) ?? ""));
  const pictures = findElements(page, isPicture).length;
  const files = findElements(page, isFile).length;
  qualifyIds(page, name);
  const content = mainContent(page, warn);
  const [body] = findElements(content, ({ tagName }) => tagName === "body");
  const children = (body ?? content).children.filter((child) => isElement(child) || child.type === "text");
  return { content: children as ElementContent[], pictures, files };
};

const ENCRYPTED_PART = /\bURI\s*=\s*(?:"([^"]*)"|'([^']*)')/g;

/** Obfuscated fonts are fine; an encrypted page means that the book has copy protection. */
const refuseEncrypted = (zip: Zip, pages: string[]): void => {
  const manifest = zip.text("META-INF/encryption.xml") ?? "";
  // as a set, because thousands of pages must not search a long manifest each
  const encrypted = new Set(
    Array.from(manifest.matchAll(ENCRYPTED_PART), ([, double, single = ""]) => double ?? single),
  );
  if (pages.some((page) => encrypted.has(encodeURI(page)))) {
    throw new UnreadableFile("The file is protected by its publisher.");
  }
};

/** Reads an EPUB in the order of the book: one Markdown text without pages. Throws UnreadableFile. */
export const readEpub = async (bytes: Uint8Array, warn: Warn = ignoreWarnings): Promise<string[]> => {
  const zip = openZip(bytes);
  const spine = readSpine(zip);
  refuseEncrypted(zip, spine.pages);
  const pages = spine.pages.map((name) => readPage(zip, name, warn));
  warnOfCount(warn, "page_damaged", spine.missing);
  warnOfCount(
    warn,
    "images_without_text",
    pages.reduce((sum, { pictures }) => sum + pictures, spine.pictures),
  );
  warnOfCount(
    warn,
    "embedded_files_left_out",
    pages.reduce((sum, { files }) => sum + files, 0),
  );
  return [toMarkdown({ type: "root", children: pages.flatMap(({ content }) => content) })];
};
