import { strToU8, zipSync } from "fflate";

/** An archive of text files. */
export const packed = (parts: Record<string, string>): Uint8Array =>
  zipSync(Object.fromEntries(Object.entries(parts).map(([name, text]) => [name, strToU8(text)])));

const OPEN_XML = "http://schemas.openxmlformats.org";
const WORD_SPACES = [
  `xmlns:w="${OPEN_XML}/wordprocessingml/2006/main"`,
  `xmlns:m="${OPEN_XML}/officeDocument/2006/math"`,
  `xmlns:mc="${OPEN_XML}/markup-compatibility/2006"`,
  `xmlns:v="urn:schemas-microsoft-com:vml"`,
].join(" ");

/** A Word document of that body, with the parts that are given beside it. */
export const wordFile = (body: string, parts: Record<string, string> = {}): Uint8Array =>
  packed({
    "_rels/.rels": `<Relationships xmlns="${OPEN_XML}/package/2006/relationships"><Relationship Id="r" Target="word/document.xml" Type="${OPEN_XML}/officeDocument/2006/relationships/officeDocument"/></Relationships>`,
    "word/document.xml": `<w:document ${WORD_SPACES}><w:body>${body}</w:body></w:document>`,
    ...Object.fromEntries(
      Object.entries(parts).map(([name, content]) => [
        `word/${name}.xml`,
        `<w:${name} ${WORD_SPACES}>${content}</w:${name}>`,
      ]),
    ),
  });

/** An OpenDocument text of that body and those automatic styles. */
export const openText = (body: string, styles = "", parts: Record<string, string> = {}): Uint8Array =>
  packed({
    "content.xml": `<office:document-content><office:automatic-styles>${styles}</office:automatic-styles><office:body><office:text>${body}</office:text></office:body></office:document-content>`,
    ...parts,
  });

/** A book of those pages, in that order. */
export const book = (pages: Record<string, string>, parts: Record<string, string> = {}): Uint8Array => {
  const names = Object.keys(pages);
  const items = names.map((name) => `<item id="${name}" href="${name}" media-type="application/xhtml+xml"/>`);
  const spine = names.map((name) => `<itemref idref="${name}"/>`);
  return packed({
    "META-INF/container.xml": '<container><rootfiles><rootfile full-path="OPS/book.opf"/></rootfiles></container>',
    "OPS/book.opf": `<package><manifest>${items.join("")}</manifest><spine>${spine.join("")}</spine></package>`,
    ...Object.fromEntries(names.map((name) => [`OPS/${name}`, `<html><body>${pages[name]}</body></html>`])),
    ...parts,
  });
};
