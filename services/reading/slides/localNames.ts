import { childElements, type Element } from "../guard/xml.ts";

/* Access to Office's XML by local names, because its prefixes may vary. */

export const localName = ({ name }: Element): string => name.slice(name.indexOf(":") + 1);

export const childrenNamed = (parent: Element | undefined, name: string): Element[] =>
  parent ? childElements(parent).filter((child) => localName(child) === name) : [];

export const childNamed = (parent: Element | undefined, name: string): Element | undefined =>
  childrenNamed(parent, name)[0];

/** The descendant at a path of names. */
export const findPath = (parent: Element | undefined, ...path: string[]): Element | undefined =>
  path.reduce<Element | undefined>((found, name) => childNamed(found, name), parent);

/** Descendants of that name in document order, without those inside another match. */
export const descendantsNamed = (parent: Element | undefined, name: string): Element[] =>
  parent
    ? childElements(parent).flatMap((child) => (localName(child) === name ? [child] : descendantsNamed(child, name)))
    : [];

/** A namespaced attribute, `r:id` rather than `id`. */
export const reference = ({ attributes }: Element, name: string): string =>
  Object.entries(attributes).find(([key]) => key.endsWith(`:${name}`))?.[1] ?? "";
