import type { ReactNode } from "react";
import type { Highlight } from "../../api/knowledgeSearch.ts";

/** A longer beginning without a marked word is left out: four lines of a passage are shown. */
const MAX_LEAD = 200;
/** What stays of it. */
const LEAD = 60;

/** A part of a passage without the marks of headings and empty lines, which take the room of words. */
const textOf = (content: string, from: number, to?: number): string =>
  `${content[from - 1] ?? "\n"}${content.slice(from, to)}`.replaceAll(/\n+(#{1,6} )?/g, "\n").slice(1);

/** A passage with its words marked, from shortly before the first one. */
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
