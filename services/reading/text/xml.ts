import { decodeXml, encodingFromDeclaration } from "../guard/encoding.ts";
import { parseXml, type Element } from "../guard/xml.ts";
import { decodeText } from "./charset.ts";
import { fence } from "./fence.ts";
import { cleanLines, hasLongLine } from "./lines.ts";

const escape = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

const openTag = ({ name, attributes }: Element, end: string): string => {
  const listed = Object.entries(attributes).map(
    ([key, value]) => ` ${key}="${escape(value).replaceAll('"', "&quot;")}"`,
  );
  return `<${name}${listed.join("")}${end}`;
};

const inlineXml = (node: Element | string): string => {
  if (typeof node === "string") return escape(node);
  if (node.children.length === 0) return openTag(node, "/>");
  return `${openTag(node, ">")}${node.children.map(inlineXml).join("")}</${node.name}>`;
};

const isBlank = (node: Element | string): boolean => typeof node === "string" && node.trim() === "";

/** The lines of an element, with its inner elements on lines of their own. An element with text stays on one line. */
const indentElement = (element: Element, margin: string): string[] => {
  const parts = element.children.filter((child) => !isBlank(child));
  if (parts.length === 0 || parts.some((part) => typeof part === "string")) return [margin + inlineXml(element)];
  const inner = parts.flatMap((part) => (typeof part === "string" ? [] : indentElement(part, `${margin}  `)));
  return [margin + openTag(element, ">"), ...inner, `${margin}</${element.name}>`];
};

/** Programs write other encodings into files that declare UTF-8, or nothing. */
const decode = (bytes: Uint8Array): string =>
  /^utf-?8$/i.test(encodingFromDeclaration(bytes) ?? "utf-8") ? decodeText(bytes) : decodeXml(bytes);

/** Reads XML as a code block, indented if it has long lines. Throws UnreadableFile as `parseXml` does. */
export const readXml = async (bytes: Uint8Array): Promise<string[]> => {
  const text = cleanLines(decode(bytes)).trim();
  const root = parseXml(text);
  return [fence(hasLongLine(text) ? indentElement(root, "").join("\n") : text, "xml")];
};
