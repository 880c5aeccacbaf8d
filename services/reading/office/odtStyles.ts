import { childOf, type Element, elementsOf, findAll } from "../guard/xml.ts";

/* What the styles of an OpenDocument text mean: automatic ones stand on named ones. */

export interface OdtStyles {
  /** The style's own name and those it stands on, `Heading 1`; spelled as a person reads them. */
  names(style: string): string[];
  isBold(style: string): boolean;
  isItalic(style: string): boolean;
  isStruck(style: string): boolean;
  isRaised(style: string): boolean;
  isHidden(style: string): boolean;
  /** Whether the list's level, from 1, is numbered. */
  isNumbered(list: string, level: number): boolean;
}

const readable = (name: string): string =>
  name.replace(/_([0-9a-f]{2})_/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16))).replaceAll("_", " ");

const keyOf = (style: Element): string => style.attributes["style:name"] ?? "";

const numberedLevels = (list: Element): Set<number> =>
  new Set(
    elementsOf(list)
      .filter(
        ({ name, attributes }) => name === "text:list-level-style-number" && attributes["style:num-format"] !== "",
      )
      .map(({ attributes }) => Number(attributes["text:level"])),
  );

/** Reads the styles of content.xml and styles.xml. */
export const readOdtStyles = (parts: Element[]): OdtStyles => {
  const groups = parts
    .flatMap((part) => elementsOf(part))
    .filter(({ name }) => /^office:(?:automatic-)?styles$/.test(name));
  const styles = new Map(
    groups.flatMap((group) => findAll(group, "style:style")).map((style) => [keyOf(style), style]),
  );
  const lists = new Map(
    groups.flatMap((group) => findAll(group, "text:list-style")).map((list) => [keyOf(list), numberedLevels(list)]),
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
      const value = childOf(style, "style:text-properties")?.attributes[property];
      if (value !== undefined) return value;
    }
    return "";
  };
  return {
    names: (name) =>
      [name, ...chain(name).flatMap((style) => [keyOf(style), style.attributes["style:parent-style-name"] ?? ""])].map(
        readable,
      ),
    isBold: (name) => /^(?:bold|[6-9]00)$/.test(textProperty(name, "fo:font-weight")),
    isItalic: (name) => /^(?:italic|oblique)$/.test(textProperty(name, "fo:font-style")),
    isStruck: (name) => /^(?!none|$)/.test(textProperty(name, "style:text-line-through-style")),
    isRaised: (name) => /^(?:super|[1-9]\d*%)/.test(textProperty(name, "style:text-position")),
    isHidden: (name) => textProperty(name, "text:display") === "none",
    isNumbered: (list, level) => lists.get(list)?.has(level) ?? false,
  };
};
