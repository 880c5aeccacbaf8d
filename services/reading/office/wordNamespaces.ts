import { childElements, type Element } from "../guard/xml.ts";

/* Word's XML may use any prefix for a namespace: most programs write `w:p`, some `ns0:p`, or `p` in a default namespace. */

const SCHEMAS = "http://schemas.openxmlformats.org";
const STRICT = "http://purl.oclc.org/ooxml";

/** The prefixes that the readers expect, by namespace. */
const PREFIXES: Record<string, string> = {
  [`${SCHEMAS}/wordprocessingml/2006/main`]: "w",
  [`${STRICT}/wordprocessingml/main`]: "w",
  [`${SCHEMAS}/officeDocument/2006/math`]: "m",
  [`${STRICT}/officeDocument/math`]: "m",
  [`${SCHEMAS}/officeDocument/2006/relationships`]: "r",
  [`${STRICT}/officeDocument/relationships`]: "r",
  [`${SCHEMAS}/markup-compatibility/2006`]: "mc",
  [`${SCHEMAS}/drawingml/2006/wordprocessingDrawing`]: "wp",
  [`${SCHEMAS}/drawingml/2006/main`]: "a",
  [`${SCHEMAS}/drawingml/2006/picture`]: "pic",
  [`${SCHEMAS}/drawingml/2006/chart`]: "c",
  [`${SCHEMAS}/drawingml/2006/diagram`]: "dgm",
  "http://schemas.microsoft.com/office/drawing/2014/chartex": "cx",
  "urn:schemas-microsoft-com:vml": "v",
};

/** The expected prefix for each declared prefix; "" is the default namespace. */
type Scope = ReadonlyMap<string, string>;

const declaredPrefix = (attribute: string): string | undefined =>
  attribute === "xmlns" ? "" : attribute.startsWith("xmlns:") ? attribute.slice(6) : undefined;

const openScope = ({ attributes }: Element, outer: Scope): Scope => {
  let scope: Map<string, string> | undefined;
  for (const [name, namespace] of Object.entries(attributes)) {
    const prefix = declaredPrefix(name);
    if (prefix === undefined) continue;
    scope ??= new Map(outer);
    scope.set(prefix, PREFIXES[namespace] ?? prefix);
  }
  return scope ?? outer;
};

const knownName = (name: string, scope: Scope, isAttribute: boolean): string => {
  const colon = name.indexOf(":");
  const prefix = name.slice(0, Math.max(colon, 0));
  // a default namespace does not apply to attributes
  if ((prefix === "" && isAttribute) || prefix === "xmlns") return name;
  const known = scope.get(prefix) ?? prefix;
  return known === prefix ? name : `${known}:${name.slice(colon + 1)}`;
};

const rename = (element: Element, outer: Scope): void => {
  const scope = openScope(element, outer);
  element.name = knownName(element.name, scope, false);
  for (const [name, value] of Object.entries(element.attributes)) {
    const known = knownName(name, scope, true);
    if (known === name) continue;
    delete element.attributes[name];
    element.attributes[known] = value;
  }
  for (const child of childElements(element)) rename(child, scope);
};

/** Renames the elements and attributes of a part to the expected prefixes, in place, and declares these. */
export const normalizeNamespaces = (root: Element): Element => {
  rename(root, new Map());
  for (const [namespace, prefix] of Object.entries(PREFIXES))
    if (!namespace.startsWith(STRICT)) root.attributes[`xmlns:${prefix}`] ??= namespace;
  return root;
};
