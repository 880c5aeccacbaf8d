import { strToU8, zipSync } from "fflate";

/** A ZIP archive of text files. */
const zipTexts = (parts: Record<string, string>): Uint8Array =>
  zipSync(Object.fromEntries(Object.entries(parts).map(([name, text]) => [name, strToU8(text)])));

const OPEN_XML = "http://schemas.openxmlformats.org";
const WORD_NAMESPACES = [
  `xmlns:w="${OPEN_XML}/wordprocessingml/2006/main"`,
  `xmlns:m="${OPEN_XML}/officeDocument/2006/math"`,
  `xmlns:mc="${OPEN_XML}/markup-compatibility/2006"`,
  `xmlns:v="urn:schemas-microsoft-com:vml"`,
].join(" ");

/** A Word document with this body and more parts. */
export const wordFile = (body: string, parts: Record<string, string> = {}): Uint8Array =>
  zipTexts({
    "_rels/.rels": `<Relationships xmlns="${OPEN_XML}/package/2006/relationships"><Relationship Id="r" Target="word/document.xml" Type="${OPEN_XML}/officeDocument/2006/relationships/officeDocument"/></Relationships>`,
    "word/document.xml": `<w:document ${WORD_NAMESPACES}><w:body>${body}</w:body></w:document>`,
    ...Object.fromEntries(
      Object.entries(parts).map(([name, content]) => [
        `word/${name}.xml`,
        `<w:${name} ${WORD_NAMESPACES}>${content}</w:${name}>`,
      ]),
    ),
  });

/** An OpenDocument text with this body and automatic styles. */
export const openText = (body: string, styles = "", parts: Record<string, string> = {}): Uint8Array =>
  zipTexts({
    "content.xml": `<office:document-content><office:automatic-styles>${styles}</office:automatic-styles><office:body><office:text>${body}</office:text></office:body></office:document-content>`,
    ...parts,
  });

/** An EPUB book of these pages, in order. */
export const book = (pages: Record<string, string>, parts: Record<string, string> = {}): Uint8Array => {
  const names = Object.keys(pages);
  const items = names.map((name) => `<item id="${name}" href="${name}" media-type="application/xhtml+xml"/>`);
  const spine = names.map((name) => `<itemref idref="${name}"/>`);
  return zipTexts({
    "META-INF/container.xml": '<container><rootfiles><rootfile full-path="OPS/book.opf"/></rootfiles></container>',
    "OPS/book.opf": `<package><manifest>${items.join("")}</manifest><spine>${spine.join("")}</spine></package>`,
    ...Object.fromEntries(names.map((name) => [`OPS/${name}`, `<html><body>${pages[name]}</body></html>`])),
    ...parts,
  });
};
