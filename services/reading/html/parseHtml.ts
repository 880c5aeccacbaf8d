import type { Root } from "hast";
import { fromParse5 } from "hast-util-from-parse5";
import { type DefaultTreeAdapterTypes, defaultTreeAdapter, parse } from "parse5";
import { UnreadableFile } from "../reader.ts";

/** Pages in the wild stay under 100; every pass over the tree recurses, and the stack ends near 3,000. */
const MAX_DEPTH = 512;

/** The parser's own time grows with the square of the depth, so it is stopped while it parses. */
const countDepth = () => {
  let depth = 0;
  return {
    onItemPush() {
      depth += 1;
      if (depth > MAX_DEPTH) throw new UnreadableFile("The file is nested too deeply.");
    },
    onItemPop() {
      depth -= 1;
    },
  };
};

/** Parses HTML as browsers do; nothing is fetched or run. Throws UnreadableFile: nested too deeply. */
export const parseHtml = (html: string): Root => {
  const treeAdapter = { ...defaultTreeAdapter, ...countDepth() };
  const document = parse<DefaultTreeAdapterTypes.DefaultTreeAdapterMap>(html, { treeAdapter, scriptingEnabled: false });
  const tree = fromParse5(document);
  return tree.type === "root" ? tree : { type: "root", children: [] };
};

/** HTML knows no `<a/>`: read as HTML, an empty title or anchor would swallow what follows. Attributes hold no `<` in XML. */
const EMPTY_ELEMENT = /<([a-z][\w:.-]*)((?:[^<>"']|"[^"<]*"|'[^'<]*')*)\/>/gi;
const VOID = /^(?:area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr)$/i;

/** Spells XHTML so that an HTML parser reads it the same. */
export const htmlOfXhtml = (xhtml: string): string =>
  xhtml.replace(EMPTY_ELEMENT, (whole, name: string, attributes: string) =>
    VOID.test(name) ? whole : `<${name}${attributes}></${name}>`,
  );
