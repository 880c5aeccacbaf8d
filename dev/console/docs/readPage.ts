import type { Nodes, Parents, RootContent } from "mdast";
import { fromMarkdown } from "mdast-util-from-markdown";
import { gfmFromMarkdown } from "mdast-util-gfm";
import { gfm } from "micromark-extension-gfm";

/** A heading with the anchor that GitHub gives it, so that links work in both places. */
export interface Heading {
  depth: number;
  text: string;
  anchor: string;
}

/** The searchable text below one heading. */
interface Section {
  anchor: string;
  heading: string;
  text: string;
}

export interface Page {
  /** The Markdown file, from the root of the repository. */
  source: string;
  /** Its path on the site, such as `adr/0001-one-lock-orders-the-log`. */
  path: string;
  title: string;
  description: string;
  content: RootContent[];
  headings: Heading[];
  sections: Section[];
}

const MAX_DESCRIPTION = 160;
const BLOCKS = new Set(["paragraph", "tableRow", "tableCell", "listItem", "code", "heading"]);

/** The text of a node; blocks are separated by a space. */
export function textOf(node: Nodes): string {
  if ("value" in node) return node.value;
  if (!("children" in node)) return "";
  return node.children.map((child) => textOf(child) + (BLOCKS.has(child.type) ? " " : "")).join("");
}
const flatText = (node: Nodes): string => textOf(node).replace(/\s+/g, " ").trim();

const isComment = (node: Nodes): boolean => node.type === "html" && /^<!--.*-->$/s.test(node.value);

/** Shows HTML in Markdown as text. Removes comments, which are for editors of the file. */
function disarm(node: Parents): void {
  const shown = (node.children as Nodes[]).filter((child) => !isComment(child));
  node.children = shown.map((child) =>
    child.type === "html" ? { type: "text", value: child.value } : child,
  ) as typeof node.children;
  for (const child of node.children) if ("children" in child) disarm(child);
}

/** Gives each heading the anchor that GitHub would give it. */
function createAnchors(): (text: string) => string {
  const seen = new Map<string, number>();
  return (text) => {
    const slug = text
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, "")
      .trim()
      .replace(/\s/g, "-");
    const count = seen.get(slug) ?? 0;
    seen.set(slug, count + 1);
    return count === 0 ? slug : `${slug}-${count}`;
  };
}

/** Matches table cells that the search index leaves out: figures, yes or no, and verdicts. */
const FIGURE =
  /^(?:yes|own|-|holds|(?:not )?reached|\d+\.\d+|\d{1,3}(?:,\d{3})+)$|^(?:below )?[\d.,]+(?:\/s| (?:ms|s|min|kB|MB|MiB|GiB))$/;

/** The searchable text of a node. */
function searchText(node: Nodes): string {
  if (node.type === "table" || node.type === "tableRow") return node.children.map(searchText).join(" ");
  const text = flatText(node);
  return node.type === "tableCell" && FIGURE.test(text) ? "" : text;
}

function sectionsOf(content: RootContent[], headings: Heading[]): Section[] {
  const sections: Section[] = [{ anchor: "", heading: "", text: "" }];
  const left = [...headings];
  for (const node of content) {
    if (node.type === "heading") {
      const { anchor, text } = left.shift()!;
      sections.push({ anchor, heading: text, text: "" });
    } else {
      const section = sections.at(-1)!;
      section.text = `${section.text} ${searchText(node)}`.replace(/\s+/g, " ").trim();
    }
  }
  return sections.filter(({ heading, text }) => heading || text);
}

/** Of an ADR, search finds the paragraph with the decision. Its problem and its alternatives would be a quarter of the index. */
const searchedOf = (path: string, content: RootContent[]): RootContent[] =>
  path.startsWith("adr/") ? content.filter((node) => flatText(node).startsWith("Decision.")) : content;

const clip = (text: string): string =>
  text.length <= MAX_DESCRIPTION ? text : `${text.slice(0, MAX_DESCRIPTION).replace(/\s+\S*$/, "")} …`;

/** Reads a page: GitHub's Markdown with one title. Throws if the title is missing. */
export function readPage(source: string, path: string, markdown: string): Page {
  const tree = fromMarkdown(markdown, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] });
  disarm(tree);
  const [first, ...content] = tree.children;
  if (first?.type !== "heading" || first.depth !== 1) throw new Error(`${source} must start with its title: # …`);
  const anchorOf = createAnchors();
  const title = flatText(first);
  anchorOf(title);
  const headings = content
    .filter((node) => node.type === "heading")
    .map((node) => {
      const text = flatText(node);
      return { depth: node.depth, text, anchor: anchorOf(text) };
    });
  const opening = content.find((node) => node.type === "paragraph");
  const description = clip(opening ? flatText(opening).replace(/^(Problem|Decision)\. /, "") : title);
  return {
    source,
    path,
    title,
    description,
    content,
    headings,
    sections: sectionsOf(searchedOf(path, content), headings),
  };
}
