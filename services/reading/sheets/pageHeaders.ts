import { childElements, findAll, type Element } from "../guard/xml.ts";
import type { Zip } from "../guard/zip.ts";
import { readPart } from "../office/xmlParts.ts";

/* The headers and footers that sheets have on paper. */

/** Fonts, colours, sizes, positions, page numbers, dates and names in a header of Excel, as `&L&"Arial,Bold"&12Page &P`. */
const CODES = /&(?:"[^"]*"|K[0-9A-F]{6}|K\d\d[+-]\d{3}|\d+|[A-Za-z])/g;

/** The text of a header or footer of Excel, without its fields. */
export const textWithoutFields = (codes: string): string =>
  codes.replaceAll("&&", "\0").replace(CODES, " ").replaceAll("\0", "&");

const SHEET = /^xl\/(?:worksheets|chartsheets)\/[^/]+\.xml$/;
const HEADER = /<(?:odd|even|first)(?:Header|Footer)\b[^<>]*>([^<]*)</g;
const ENTITIES: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

/** The headers and footers of an XLSX. */
export const excelHeaders = (zip: Zip): string[] =>
  zip
    .names()
    .filter((name) => SHEET.test(name))
    .flatMap((name) => [...(zip.text(name) ?? "").matchAll(HEADER)])
    .map(([, codes = ""]) =>
      textWithoutFields(codes.replace(/&(\w+);/g, (_, entity: string) => ENTITIES[entity] ?? " ")),
    );

/** Programs fill them in, and write placeholders into pages that no sheet uses. */
const FIELDS = new Set(["date", "time", "sheet-name", "page-number", "page-count", "title", "file-name"]);

const ownText = (node: Element | string): string => {
  if (typeof node === "string") return node;
  return FIELDS.has(node.name.replace(/^text:/, "")) ? "" : node.children.map(ownText).join("");
};

const ODS_HEADERS = new Set(["header", "header-left", "header-first", "footer", "footer-left", "footer-first"]);

/** The headers and footers of an ODS. */
export const openDocumentHeaders = (zip: Zip): string[] => {
  const styles = readPart(zip, "styles.xml");
  const pages = styles ? findAll(styles, "style:master-page") : [];
  return pages
    .flatMap(childElements)
    .filter(({ name }) => ODS_HEADERS.has(name.replace(/^style:/, "")))
    .map(ownText);
};
