import type { Nodes, PhrasingContent } from "mdast";

/* A cell of a Markdown table is one line: blocks inside it become runs with `<br>` between them. */

/* Nodes are made anew each time: later passes change them in place. */
const newLine = (): PhrasingContent => ({ type: "html", value: "<br>" });
const semicolon = (): PhrasingContent => ({ type: "text", value: "; " });

export const plain = (nodes: Nodes[]): string =>
  nodes.map((node) => ("value" in node ? node.value : "children" in node ? plain(node.children) : "")).join("");

const joined = (lines: PhrasingContent[][], between: () => PhrasingContent): PhrasingContent[] =>
  lines.flatMap((line, index) => (index === 0 ? line : [between(), ...line]));

const codeLines = (value: string): PhrasingContent[][] =>
  value
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => [{ type: "inlineCode", value: line }]);

const marked = (mark: string, lines: PhrasingContent[][]): PhrasingContent[][] =>
  lines.map((line, index) => (index === 0 ? [{ type: "text", value: mark }, ...line] : line));

/** The lines of block content. */
const blockLines = (node: Nodes): PhrasingContent[][] => {
  switch (node.type) {
    case "list":
      return node.children.flatMap((item, index) =>
        marked(node.ordered ? `${(node.start ?? 1) + index}. ` : "- ", linesOf(item.children)),
      );
    case "table":
      return node.children.map((row) =>
        joined(
          row.children.map((cell) => cell.children),
          semicolon,
        ),
      );
    case "code":
      return codeLines(node.value);
    case "thematicBreak":
      return [];
    default:
      return "children" in node ? linesOf(node.children) : [];
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

const linesOf = (nodes: Nodes[]): PhrasingContent[][] => {
  const lines: PhrasingContent[][] = [];
  let open: PhrasingContent[] | undefined;
  for (const node of nodes) {
    if (isPhrasing(node)) {
      if (open) open.push(node);
      else lines.push((open = [node]));
    } else {
      open = undefined;
      lines.push(...blockLines(node));
    }
  }
  return lines.filter((line) => plain(line).trim() !== "" || line.some(({ type }) => type === "footnoteReference"));
};

/** Any content as the content of a table's cell. */
export const cellContent = (nodes: Nodes[]): PhrasingContent[] => joined(linesOf(nodes), newLine);
