import type { Nodes, Parents, Table } from "mdast";
import { fromMarkdown } from "mdast-util-from-markdown";
import { gfmFromMarkdown } from "mdast-util-gfm";
import { gfm } from "micromark-extension-gfm";
import { memo, type ReactNode } from "react";
import { ExternalLink } from "./ExternalLink.tsx";

/** Texts of models and documents contain links; only these schemes become links. */
const SAFE = /^(https?:|mailto:)/i;
/** Deeper nesting is shown as text, because untrusted text must not exhaust the stack. */
const MAX_DEPTH = 40;

const TAGS = {
  paragraph: "p",
  blockquote: "blockquote",
  listItem: "li",
  emphasis: "em",
  strong: "strong",
  delete: "del",
} as const;

const textOf = (node: Nodes): string =>
  "value" in node ? node.value : "children" in node ? node.children.map(textOf).join("") : "";

type RenderMark = (n: number) => ReactNode;

interface Drawing {
  mark: RenderMark;
  depth: number;
}

const renderChildren = (node: Parents, { mark, depth }: Drawing): ReactNode =>
  // the elements have no state, and a text only grows
  node.children.map((child, n) => <Node key={n} node={child} mark={mark} depth={depth + 1} />);

const AnyLink = ({ url, children }: { url: string; children: ReactNode }) =>
  SAFE.test(url) ? <ExternalLink url={url}>{children}</ExternalLink> : children;

/** The keyboard can scroll the region of a wide table. */
function TableOf({ table, drawing }: { table: Table; drawing: Drawing }) {
  const [head, ...rows] = table.children;
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <div className="markdown-table" tabIndex={0} role="group" aria-label="Table">
      <table>
        <thead>
          <tr>
            {head?.children.map((cell, n) => (
              <th key={n} scope="col">
                {renderChildren(cell, drawing)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, n) => (
            <tr key={n}>
              {row.children.map((cell, at) => (
                <td key={at}>{renderChildren(cell, drawing)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Node({ node, ...drawing }: Drawing & { node: Nodes }): ReactNode {
  if (drawing.depth > MAX_DEPTH) return textOf(node);
  switch (node.type) {
    case "root":
      return renderChildren(node, drawing);
    case "paragraph":
    case "blockquote":
    case "listItem":
    case "emphasis":
    case "strong":
    case "delete": {
      const Tag = TAGS[node.type];
      return <Tag>{renderChildren(node, drawing)}</Tag>;
    }
    case "heading":
      // below the page's headings and all of one level, because a text may start with any level
      return <h3 className={node.depth < 3 ? undefined : "minor"}>{renderChildren(node, drawing)}</h3>;
    case "list":
      return node.ordered ? (
        <ol start={node.start ?? 1}>{renderChildren(node, drawing)}</ol>
      ) : (
        <ul>{renderChildren(node, drawing)}</ul>
      );
    case "table":
      return <TableOf table={node} drawing={drawing} />;
    case "code":
      return (
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
        <pre tabIndex={0} aria-label={node.lang ? `${node.lang} code` : "code"}>
          <code>{node.value}</code>
        </pre>
      );
    case "inlineCode":
      return <code>{node.value}</code>;
    case "break":
      return <br />;
    case "thematicBreak":
      return <hr />;
    case "link": {
      const source = /^source:(\d+)$/.exec(node.url)?.[1];
      if (source) return drawing.mark(Number(source));
      return <AnyLink url={node.url}>{renderChildren(node, drawing)}</AnyLink>;
    }
    // images of other sites are not loaded
    case "image":
      return <AnyLink url={node.url}>{node.alt || node.url}</AnyLink>;
    case "definition":
      return null;
    default:
      return textOf(node);
  }
}

interface Props {
  text: string;
  mark: RenderMark;
}

/** The elements of a text. HTML in the text is shown as text. */
export default memo(({ text, mark }: Props) => {
  const node = fromMarkdown(text, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] });
  return <Node node={node} mark={mark} depth={0} />;
});
