import type { Root } from "hast";
import { fromParse5 } from "hast-util-from-parse5";
import { type DefaultTreeAdapterTypes, defaultTreeAdapter, parse } from "parse5";
import { UnreadableFile } from "../reader.ts";

/** Real pages stay below 100. Passes over the tree recurse, and the stack overflows near 3,000. */
const MAX_DEPTH = 512;

/** Stops the parser at MAX_DEPTH, because its time grows with the square of the depth. */
const createDepthLimit = () => {
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

/** Parses HTML as browsers do, without fetching or running anything. Throws UnreadableFile: nested too deeply. */
export const parseHtml = (html: string): Root => {
  const treeAdapter = { ...defaultTreeAdapter, ...createDepthLimit() };
  const document = parse<DefaultTreeAdapterTypes.DefaultTreeAdapterMap>(html, { treeAdapter, scriptingEnabled: false });
  const tree = fromParse5(document);
  return tree.type === "root" ? tree : { type: "root", children: [] };
};

/** HTML has no `<a/>`: an empty title or anchor would swallow what follows. XML attributes contain no `<`. */
const EMPTY_ELEMENT = /<([a-z][\w:.-]*)((?:[^<>"']|"[^"<]*"|'[^'<]*')*)\/>/gi;
const VOID = /^(?:area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr)$/i;

/** Rewrites XHTML so that an HTML parser reads it the same way. */
export const xhtmlToHtml = (xhtml: string): string =>
  xhtml.replace(EMPTY_ELEMENT, (whole, name: string, attributes: string) =>
    VOID.test(name) ? whole : `<${name}${attributes}></${name}>`,
  );
