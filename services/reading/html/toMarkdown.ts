import type { Root } from "hast";
import { defaultNodeHandlers, toMdast, type NodeHandle } from "hast-util-to-mdast";
import type { ListItem, Nodes, Parents } from "mdast";
import { gfmToMarkdown } from "mdast-util-gfm";
import { defaultHandlers, toMarkdown as write, type Handle, type Options } from "mdast-util-to-markdown";
import { dropBlockWhitespace } from "./blockWhitespace.ts";
import { handlers } from "./handlers.ts";
import { numberOf } from "./itemNumbers.ts";
import { joinTexts } from "./joinTexts.ts";
import { markNotes } from "./notes.ts";
import { separatePictures } from "./pictureGaps.ts";
import { bracketReadings } from "./ruby.ts";
import { adoptStrayContent } from "./strayContent.ts";
import { normalizeTexts } from "./text.ts";
import { normalizeMarkdown } from "./normalizeMarkdown.ts";
import type { RawMarkdown } from "./rawMarkdown.ts";

/** Escapes that CommonMark does not need, or that only prevent automatic links. They would disturb searches. */
const NEEDLESS =
  /(?<=[\p{L}\p{N}])\\_(?=[\p{L}\p{N}])|\\&(?!#?\w{1,31};)|(?<=\w)\\@(?=\w)|(?<=https?|ftp)\\:|(?<=www)\\\./giu;

const gfm = gfmToMarkdown({ tablePipeAlign: false });
const writeTable = gfm.extensions?.find(({ handlers: own }) => own?.table)?.handlers?.table as Handle;

const OPTIONS: Options = {
  bullet: "-",
  emphasis: "*",
  rule: "-",
  fences: true,
  listItemIndent: "one",
  extensions: [gfm],
  handlers: {
    // some programs require three dashes, while GFM accepts one
    table: (node, parent, state, info) => {
      const [header = "", delimiters = "", ...rows] = writeTable(node, parent, state, info).split("\n");
      return [header, delimiters.replaceAll("-", "---"), ...rows].join("\n");
    },
    // the library searches the whole list for each item
    listItem: (node: ListItem, parent: Parents | undefined, state, info) => {
      if (parent?.type !== "list") return defaultHandlers.listItem(node, parent, state, info);
      const start = numberOf(parent, node, state.indexStack.at(-1) ?? 0);
      return defaultHandlers.listItem(node, { ...parent, start, children: [node] }, state, info);
    },
    text: (node, parent, state, info) =>
      defaultHandlers.text(node, parent, state, info).replace(NEEDLESS, (escaped) => escaped.slice(1)),
    inlineMath: (node: RawMarkdown) => node.value,
    break: (node, parent, state, info) => defaultHandlers.break(node, parent, state, info).replace("\\\n", "  \n"),
  },
};

const root: NodeHandle = (state, node) => {
  const page = defaultNodeHandlers.root(state, node) as Nodes;
  joinTexts(page);
  return page;
};

/** Converts an HTML tree to Markdown: GFM tables, footnotes at the end, images as their alternative text. Changes the tree. */
export const toMarkdown = (tree: Root): string => {
  normalizeTexts(tree);
  bracketReadings(tree);
  separatePictures(tree);
  dropBlockWhitespace(tree);
  adoptStrayContent(tree);
  const content: Nodes = toMdast(markNotes(tree), { handlers, nodeHandlers: { root }, document: true });
  return write(normalizeMarkdown(content), OPTIONS).trim();
};
