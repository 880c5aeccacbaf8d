import { type Element, parseXml } from "../guard/xml.ts";
import type { Zip } from "../guard/zip.ts";
import { UnreadableFile } from "../reader.ts";

const OLE = [0xd0, 0xcf, 0x11, 0xe0];

export const isOle = (bytes: Uint8Array): boolean => OLE.every((byte, at) => bytes[at] === byte);

/** An Office file with a password is an OLE file instead of an archive. */
export const refuseProtected = (bytes: Uint8Array): void => {
  if (isOle(bytes)) throw new UnreadableFile("The file is protected by a password.");
};

/** A part's root element; undefined if the file has no such part. Throws UnreadableFile, also for any document type. */
export const readPart = (zip: Zip, name: string): Element | undefined => {
  const xml = zip.text(name);
  if (xml === undefined) return undefined;
  if (xml.includes("<!DOCTYPE")) {
    throw new UnreadableFile("The file declares a document type, which is not allowed.");
  }
  return parseXml(xml);
};

/** A part's root element. Throws UnreadableFile if the file has no such part. */
export const requirePart = (zip: Zip, name: string): Element => {
  const part = readPart(zip, name);
  if (!part) throw new UnreadableFile(`The file is damaged: it contains no ${name}.`);
  return part;
};

const escapeText = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll("\r", "&#13;");

const escapeAttribute = (text: string): string =>
  escapeText(text).replaceAll('"', "&quot;").replaceAll("\n", "&#10;").replaceAll("\t", "&#9;");

const write = (node: Element | string, out: string[]): void => {
  if (typeof node === "string") {
    out.push(escapeText(node));
    return;
  }
  out.push("<", node.name);
  for (const [name, value] of Object.entries(node.attributes)) out.push(" ", name, '="', escapeAttribute(value), '"');
  out.push(">");
  for (const child of node.children) write(child, out);
  out.push("</", node.name, ">");
};

/** The element as XML. */
export const writeXml = (root: Element): string => {
  const out: string[] = [];
  write(root, out);
  return out.join("");
};
