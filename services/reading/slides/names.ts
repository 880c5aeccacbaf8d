import { elementsOf, type Element } from "../guard/xml.ts";

/* Office's XML by local names: its prefixes are a habit, not a rule. */

export const localName = ({ name }: Element): string => name.slice(name.indexOf(":") + 1);

export const childrenNamed = (parent: Element | undefined, name: string): Element[] =>
  parent ? elementsOf(parent).filter((child) => localName(child) === name) : [];

export const childNamed = (parent: Element | undefined, name: string): Element | undefined =>
  childrenNamed(parent, name)[0];

/** The element that names lead to, one below the other. */
export const at = (parent: Element | undefined, ...path: string[]): Element | undefined =>
  path.reduce<Element | undefined>((found, name) => childNamed(found, name), parent);

/** Every descendant of that name, in document order; inside a match it is not looked further. */
export const allNamed = (parent: Element | undefined, name: string): Element[] =>
  parent ? elementsOf(parent).flatMap((child) => (localName(child) === name ? [child] : allNamed(child, name))) : [];

/** An attribute that belongs to a namespace, `r:id` beside `id`. */
export const reference = ({ attributes }: Element, name: string): string =>
  Object.entries(attributes).find(([key]) => key.endsWith(`:${name}`))?.[1] ?? "";
