import type { ElementContent, Nodes, Root } from "hast";
import PostalMime from "postal-mime";
import type { Zip } from "../guard/zip.ts";
import { mainContent } from "../html/mainContent.ts";
import { parseHtml } from "../html/parseHtml.ts";
import { childNodes, element, findElements, isElement, property } from "../html/tree.ts";
import { warnOfHtmlParts } from "../html/omissions.ts";
import { UnreadableFile, type Warn } from "../reader.ts";
import type { Relation } from "../slides/parts.ts";
import { decodeText } from "../text/charset.ts";
import { warnOfCount } from "../warnings.ts";

/* Web pages and texts that Word embeds in a document (`altChunk`). Documents that are converted from HTML consist only of these. */

/** Maximum chunks per document. Each is parsed separately, which takes some milliseconds. */
export const MAX_CHUNKS = 500;

/** Relations to parts that are read. Embedded Word and RTF documents are left out and reported as embedded files. */
export const isReadableChunk = ({ kind, target }: Relation): boolean =>
  kind === "aFChunk" && /\.(?:x?html?|mht(?:ml)?|txt)$/i.test(target);

const MARK = /^_chunk-(.+)$/;

/** A bookmark at the position of a chunk, which the converter keeps. */
export const chunkBookmark = (target: string): string => `_chunk-${target}`;

const htmlOf = async (bytes: Uint8Array, name: string, warn: Warn): Promise<string> => {
  if (!/\.mht(?:ml)?$/i.test(name)) return decodeText(bytes);
  try {
    const { html, text, attachments } = await PostalMime.parse(bytes, { maxNestingDepth: 50 });
    warnOfCount(
      warn,
      "images_without_text",
      attachments.filter(({ mimeType }) => mimeType.startsWith("image/")).length,
    );
    return html ?? text ?? "";
  } catch (cause) {
    throw new UnreadableFile("The file is damaged: a page in it cannot be read.", { cause });
  }
};

const readChunk = async (zip: Zip, name: string, warn: Warn): Promise<ElementContent[]> => {
  const bytes = zip.bytes(name);
  if (!bytes) return [];
  const text = await htmlOf(bytes, name, warn);
  if (/\.txt$/i.test(name)) return text.split(/\n\s*\n/).map((paragraph) => element("p", [paragraph]));
  const root = parseHtml(text);
  warnOfHtmlParts(warn, root);
  const page = mainContent(root, warn);
  const [body] = findElements(page, ({ tagName }) => tagName === "body");
  return (body ?? page).children.filter((child) => isElement(child) || child.type === "text") as ElementContent[];
};

const markedTarget = (node: Nodes): string | undefined => {
  if (!isElement(node) || node.tagName !== "p") return undefined;
  const [mark] = findElements(node, ({ tagName }) => tagName === "a");
  return mark && MARK.exec(property(mark, "id"))?.[1];
};

/** Each chunk only once, because a file that repeats one at thousands of places would grow without limit. */
const insertInto = (node: Nodes, chunks: Map<string, ElementContent[]>): void => {
  for (const child of childNodes(node)) insertInto(child, chunks);
  if (!("children" in node)) return;
  node.children = (node.children as ElementContent[]).flatMap((child) => {
    const target = markedTarget(child) ?? "";
    const chunk = chunks.get(target);
    chunks.delete(target);
    return chunk ?? child;
  });
};

/** Replaces the marks by the chunks, in place. Throws UnreadableFile: damaged, or nested too deeply. */
export const insertChunks = async (
  tree: Root,
  { zip, targets, warn }: { zip: Zip; targets: ReadonlySet<string>; warn: Warn },
): Promise<void> => {
  const chunks = new Map<string, ElementContent[]>();
  for (const target of targets) chunks.set(target, await readChunk(zip, target, warn));
  if (chunks.size > 0) insertInto(tree, chunks);
};
