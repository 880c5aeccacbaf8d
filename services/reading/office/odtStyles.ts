import { findChild, type Element, childElements, findAll } from "../guard/xml.ts";

/* The styles of an OpenDocument text. Automatic styles are based on named ones. */

/** How a level of a list or of chapters is numbered. */
export interface ListLevel {
  /** As in `style:num-format`: `1`, `a`, `I`; "" without a number. */
  format: string;
  prefix: string;
  suffix: string;
  start: number;
  /** How many levels a number names, itself included. */
  shown: number;
}

export interface OdtStyles {
  /** The display names of the style and of those it is based on, such as `Heading 1`. */
  names(style: string): string[];
  isBold(style: string): boolean;
  isItalic(style: string): boolean;
  isStrikethrough(style: string): boolean;
  isSuperscript(style: string): boolean;
  isHidden(style: string): boolean;
  /** Whether paragraphs of the style have no number, even if they are headings. */
  isUnnumbered(style: string): boolean;
  /** The numbers of the list's level, from 1; undefined if it has none. */
  listLevel(list: string, level: number): ListLevel | undefined;
}

const displayName = (name: string): string =>
  name.replace(/_([0-9a-f]{2})_/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16))).replaceAll("_", " ");

const styleName = (style: Element): string => style.attributes["style:name"] ?? "";

/** The level that an element describes, from 1. `format`: if it names none. */
export const readListLevel = ({ attributes }: Element, format: string): [level: number, ListLevel] => [
  Number(attributes["text:level"]),
  {
    format: attributes["style:num-format"] ?? format,
    prefix: attributes["style:num-prefix"] ?? "",
    suffix: attributes["style:num-suffix"] ?? "",
    start: Number(attributes["text:start-value"] ?? 1) || 1,
    shown: Number(attributes["text:display-levels"] ?? 1) || 1,
  },
];

const numberedLevels = (list: Element): Map<number, ListLevel> =>
  new Map(
    childElements(list)
      .filter(
        ({ name, attributes }) => name === "text:list-level-style-number" && attributes["style:num-format"] !== "",
      )
      .map((level) => readListLevel(level, "1")),
  );

/** Reads the styles of content.xml and styles.xml. */
export const readOdtStyles = (parts: Element[]): OdtStyles => {
  const groups = parts
    .flatMap((part) => childElements(part))
    .filter(({ name }) => /^office:(?:automatic-)?styles$/.test(name));
  const styles = new Map(
    groups.flatMap((group) => findAll(group, "style:style")).map((style) => [styleName(style), style]),
  );
  const lists = new Map(
    groups.flatMap((group) => findAll(group, "text:list-style")).map((list) => [styleName(list), numberedLevels(list)]),
  );
  const chain = (name: string): Element[] => {
    const found: Element[] = [];
    for (let style = styles.get(name); style && !found.includes(style); ) {
      found.push(style);
      style = styles.get(style.attributes["style:parent-style-name"] ?? "");
    }
    return found;
  };
  const textProperty = (name: string, property: string): string => {
    for (const style of chain(name)) {
      const value = findChild(style, "style:text-properties")?.attributes[property];
      if (value !== undefined) return value;
    }
    return "";
  };
  return {
    names: (name) =>
      [
        name,
        ...chain(name).flatMap((style) => [styleName(style), style.attributes["style:parent-style-name"] ?? ""]),
      ].map(displayName),
    isBold: (name) => /^(?:bold|[6-9]00)$/.test(textProperty(name, "fo:font-weight")),
    isItalic: (name) => /^(?:italic|oblique)$/.test(textProperty(name, "fo:font-style")),
    isStrikethrough: (name) => /^(?!none|$)/.test(textProperty(name, "style:text-line-through-style")),
    isSuperscript: (name) => /^(?:super|[1-9]\d*%)/.test(textProperty(name, "style:text-position")),
    isHidden: (name) => textProperty(name, "text:display") === "none",
    isUnnumbered: (name) =>
      chain(name)
        .map(({ attributes }) => attributes["style:list-style-name"])
        .find((list) => list !== undefined) === "",
    listLevel: (list, level) => lists.get(list)?.get(level),
  };
};
