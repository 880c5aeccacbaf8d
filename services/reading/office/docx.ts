import { strToU8, zipSync } from "fflate";
import mammoth from "mammoth";
import { childElements, textContent, type Element } from "../guard/xml.ts";
import { openZip, type Zip } from "../guard/zip.ts";
import { parseHtml } from "../html/parseHtml.ts";
import { toMarkdown } from "../html/toMarkdown.ts";
import { UnreadableFile, type Warn } from "../reader.ts";
import { ignoreWarnings, warnOfCount } from "../warnings.ts";
import { openChart } from "../slides/chart.ts";
import { descendantsNamed } from "../slides/localNames.ts";
import { openParts } from "../slides/parts.ts";
import { insertChunks, isReadableChunk, MAX_CHUNKS } from "./altChunks.ts";
import { warnOfWordParts } from "./wordOmissions.ts";
import { numberItems } from "./itemNumbers.ts";
import { readPart, refuseProtected, requirePart, writeXml } from "./xmlParts.ts";
import { rewriteWord } from "./wordBody.ts";
import { normalizeNamespaces } from "./wordNamespaces.ts";
import { readWordNumbering } from "./wordNumbering.ts";
import { itemStyle } from "./wordParagraph.ts";
import { readWordStyles } from "./wordStyles.ts";
import { countIgnoredSymbols } from "./wordSymbols.ts";

const aboveItem = (level: number): string => "ul|ol > li > ".repeat(level - 1);

const deepLists = [6, 7, 8, 9].flatMap((level) => [
  `p:unordered-list(${level}) => ${aboveItem(level)}ul > li:fresh`,
  `p:ordered-list(${level}) => ${aboveItem(level)}ol > li:fresh`,
]);

const numberedAsText = [1, 2, 3, 4, 5, 6, 7, 8, 9].map(
  (level) => `p.${itemStyle(level)} => ${aboveItem(level)}ul > li:fresh`,
);

const KNOWN_STYLES = [
  ...[1, 2, 3, 4, 5, 6].map((level) => `p.Known-h${level} => h${level}:fresh`),
  "p.Known-code => pre:separator('\\n')",
  "p.Known-quote => blockquote > p:fresh",
  "r.Known-run-code => code",
  "r.Known-run-math => math",
  "r.Known-run-ruby => ruby",
  "r.Known-run-reading => ruby > rt",
  "r[style-name='Emphasis'] => em",
  ...deepLists,
  ...numberedAsText,
];

/** Parts that the converter needs; headers, footers, comments and images are left out. */
const NEEDED = /(?:^\[Content_Types\]\.xml|\.rels|\/(?:styles|numbering)\.xml)$/;
/** The glossary holds texts that may be inserted, and are not part of the document. */
const HEADER = /(?<!\/glossary)\/(?:header|footer)\d*\.xml$/;
const BODY = /(?<!\/glossary)\/(?:document\d*|footnotes|endnotes)\.xml$/;

/** The texts of a SmartArt graphic's boxes. */
const diagramTexts = (data: Element | undefined): string[] =>
  descendantsNamed(data, "pt")
    .filter(({ attributes }) => (attributes["type"] ?? "node") === "node")
    .flatMap((point) => descendantsNamed(point, "p"))
    .map((line) => descendantsNamed(line, "t").map(textContent).join(""))
    .filter((text) => text.trim() !== "");

const mainPart = (zip: Zip): string => {
  const relationships = childElements(requirePart(zip, "_rels/.rels"));
  const main = relationships.find(({ attributes }) => attributes["Type"]?.endsWith("/officeDocument"));
  return main?.attributes["Target"]?.replace(/^\//, "") ?? "word/document.xml";
};

interface Rewritten {
  archive: Uint8Array;
  /** The parts that are shown within the text. */
  chunks: ReadonlySet<string>;
}

const readWordPart = (zip: Zip, name: string): Element | undefined => {
  const part = readPart(zip, name);
  return part && normalizeNamespaces(part);
};

/** A new archive for the converter, uncompressed, with rewritten body parts and nothing unneeded. */
const rewriteArchive = (zip: Zip, warn: Warn): Rewritten => {
  const main = mainPart(zip);
  requirePart(zip, main);
  const folder = main.slice(0, main.lastIndexOf("/") + 1);
  const parts = openParts(zip);
  const relations = parts.relations(main);
  const chunks = new Set<string>();
  const target = (id: string): string => relations.get(id)?.target ?? "";
  const context = {
    chart: (id: string) => openChart(parts, target(id)),
    diagram: (id: string) => diagramTexts(parts.xml(target(id))),
    chunk: (id: string) => {
      const relation = relations.get(id);
      if (!relation || !isReadableChunk(relation) || chunks.has(relation.target)) return undefined;
      if (chunks.size >= MAX_CHUNKS) throw new UnreadableFile("The document shows too many other pages.");
      chunks.add(relation.target);
      return relation.target;
    },
    styles: readWordStyles(readWordPart(zip, `${folder}styles.xml`)),
    numbering: readWordNumbering(readWordPart(zip, `${folder}numbering.xml`)),
  };
  const kept: Record<string, Uint8Array> = {};
  const bodies: Element[] = [];
  for (const name of zip.names()) {
    const body = name === main || BODY.test(name);
    if (!body && !NEEDED.test(name)) continue;
    const part = readWordPart(zip, name);
    if (part && body) bodies.push(part);
    const hasRelation = (id: string): boolean => parts.relations(name).has(id);
    if (part) kept[name] = strToU8(writeXml(body ? rewriteWord(part, { ...context, hasRelation }) : part));
  }
  const headers = zip.names().flatMap((name) => (HEADER.test(name) ? (readWordPart(zip, name) ?? []) : []));
  warnOfWordParts(warn, { bodies, headers, relations, comments: readWordPart(zip, `${folder}comments.xml`) });
  return { archive: zipSync(kept, { level: 0 }), chunks };
};

const convert = async (archive: Uint8Array, warn: Warn): Promise<string> => {
  try {
    const options = {
      styleMap: KNOWN_STYLES,
      includeEmbeddedStyleMap: false,
      convertImage: mammoth.images.imgElement(() => Promise.resolve({ src: "" })),
    };
    const { value, messages } = await mammoth.convertToHtml({ buffer: Buffer.from(archive) }, options);
    warnOfCount(warn, "symbols_instead_of_words", countIgnoredSymbols(messages));
    return value;
  } catch (cause) {
    throw new UnreadableFile("The file is damaged: it is not a Word document.", { cause });
  }
};

/** Reads a Word document: one Markdown text without pages. Throws UnreadableFile. */
export const readDocx = async (bytes: Uint8Array, warn: Warn = ignoreWarnings): Promise<string[]> => {
  refuseProtected(bytes);
  const zip = openZip(bytes);
  const { archive, chunks } = rewriteArchive(zip, warn);
  const tree = parseHtml(await convert(archive, warn));
  numberItems(tree);
  await insertChunks(tree, { zip, targets: chunks, warn });
  return [toMarkdown(tree)];
};
