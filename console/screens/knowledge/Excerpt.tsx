import type { ReactNode } from "react";
import type { Highlight } from "../../api/knowledgeSearch.ts";

/** A longer beginning without a marked word is cut, because only four lines of a passage are visible. */
const MAX_LEAD = 200;
/** Length of the kept beginning. */
const LEAD = 60;

/** A part of a passage without heading marks and empty lines, which take up space. */
const textOf = (content: string, from: number, to?: number): string =>
  `${content[from - 1] ?? "\n"}${content.slice(from, to)}`.replaceAll(/\n+(#{1,6} )?/g, "\n").slice(1);

/** A passage with its marked words, starting shortly before the first one. */
export function Excerpt({ content, highlights }: { content: string; highlights: readonly Highlight[] }) {
  const first = highlights[0]?.start ?? 0;
  const start = first > MAX_LEAD ? content.indexOf(" ", first - LEAD) + 1 : 0;
  const parts: ReactNode[] = [];
  let at = Math.min(start, first);
  for (const highlight of highlights) {
    parts.push(textOf(content, at, highlight.start));
    parts.push(<mark key={highlight.start}>{content.slice(highlight.start, highlight.end)}</mark>);
    at = highlight.end;
  }
  return (
    <span className="clipped found">
      {start > 0 && "… "}
      {parts}
      {textOf(content, at)}
    </span>
  );
}
