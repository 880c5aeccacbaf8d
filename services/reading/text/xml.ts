import { decodeXml } from "../guard/encoding.ts";
import { parseXml, type Element } from "../guard/xml.ts";
import { fence } from "./fence.ts";
import { cleanLines } from "./lines.ts";

const LONG_LINE = 400;

const escape = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

const openTag = ({ name, attributes }: Element, end: string): string => {
  const listed = Object.entries(attributes).map(
    ([key, value]) => ` ${key}="${escape(value).replaceAll('"', "&quot;")}"`,
  );
  return `<${name}${listed.join("")}${end}`;
};

const inline = (node: Element | string): string => {
  if (typeof node === "string") return escape(node);
  if (node.children.length === 0) return openTag(node, "/>");
  return `${openTag(node, ">")}${node.children.map(inline).join("")}</${node.name}>`;
};

const isBlank = (node: Element | string): boolean => typeof node === "string" && node.trim() === "";

/** An element per line; one that has text beside elements stays on its line. */
const indented = (element: Element, margin: string): string[] => {
  const parts = element.children.filter((child) => !isBlank(child));
  if (parts.length === 0 || parts.some((part) => typeof part === "string")) return [margin + inline(element)];
  const inner = parts.flatMap((part) => (typeof part === "string" ? [] : indented(part, `${margin}  `)));
  return [margin + openTag(element, ">"), ...inner, `${margin}</${element.name}>`];
};

const hasLongLine = (text: string): boolean => text.split("\n").some((line) => line.length > LONG_LINE);

/** XML as a block of code, indented where it was not. Throws UnreadableFile: not well formed, entities of its own. */
export const readXml = async (bytes: Uint8Array): Promise<string[]> => {
  const text = cleanLines(decodeXml(bytes)).trim();
  const root = parseXml(text);
  return [fence(hasLongLine(text) ? indented(root, "").join("\n") : text, "xml")];
};
