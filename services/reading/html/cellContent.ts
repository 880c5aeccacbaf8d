import type { Nodes, PhrasingContent } from "mdast";
import { numberOf } from "./itemNumbers.ts";

/* A cell of a Markdown table is one line, so blocks inside it are joined with `<br>`. */

/* Creates new nodes each time, because later passes change them in place. */
const newLine = (): PhrasingContent => ({ type: "html", value: "<br>" });
const semicolon = (): PhrasingContent => ({ type: "text", value: "; " });

export const plainText = (nodes: Nodes[]): string =>
  nodes.map((node) => ("value" in node ? node.value : "children" in node ? plainText(node.children) : "")).join("");

const joinLines = (lines: PhrasingContent[][], between: () => PhrasingContent): PhrasingContent[] =>
  lines.flatMap((line, index) => (index === 0 ? line : [between(), ...line]));

const codeLines = (value: string): PhrasingContent[][] =>
  value
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => [{ type: "inlineCode", value: line }]);

const prefixFirst = (mark: string, lines: PhrasingContent[][]): PhrasingContent[][] =>
  lines.map((line, index) => (index === 0 ? [{ type: "text", value: mark }, ...line] : line));

/** The lines of block content. */
const blockLines = (node: Nodes): PhrasingContent[][] => {
  switch (node.type) {
    case "list":
      return node.children.flatMap((item, index) =>
        prefixFirst(node.ordered ? `${numberOf(node, item, index)}. ` : "- ", toLines(item.children)),
      );
    case "table":
      return node.children.map((row) =>
        joinLines(
          row.children.map((cell) => cell.children),
          semicolon,
        ),
      );
    case "code":
      return codeLines(node.value);
    case "thematicBreak":
      return [];
    default:
      return "children" in node ? toLines(node.children) : [];
  }
};

const PHRASING = new Set<string>([
  "text",
  "emphasis",
  "strong",
  "delete",
  "inlineCode",
  "inlineMath",
  "link",
  "html",
  "footnoteReference",
]);
const isPhrasing = (node: Nodes): node is PhrasingContent => PHRASING.has(node.type);

const toLines = (nodes: Nodes[]): PhrasingContent[][] => {
  const lines: PhrasingContent[][] = [];
  let open: PhrasingContent[] | undefined;
  for (const node of nodes) {
    if (isPhrasing(node)) {
      if (open) open.push(node);
      else lines.push((open = [node]));
    } else {
      open = undefined;
      for (const line of blockLines(node)) lines.push(line);
    }
  }
  return lines.filter((line) => plainText(line).trim() !== "" || line.some(({ type }) => type === "footnoteReference"));
};

/** Converts any content to the content of a table cell. */
export const cellContent = (nodes: Nodes[]): PhrasingContent[] => joinLines(toLines(nodes), newLine);
