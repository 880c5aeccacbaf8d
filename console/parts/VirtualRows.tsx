import { useEffect, useRef, useState, type ReactNode } from "react";

/** Rows that are rendered, or not, together. */
export const ROWS_PER_CHUNK = 100;
/** Rows within this distance of the window are rendered, for the keys `j` and `k` and for fast scrolling. */
const MARGIN = "1500px 0px";

export const splitIntoChunks = <T,>(items: readonly T[]): T[][] =>
  Array.from({ length: Math.ceil(items.length / ROWS_PER_CHUNK) }, (_, n) =>
    items.slice(n * ROWS_PER_CHUNK, (n + 1) * ROWS_PER_CHUNK),
  );

interface Props {
  as: "ol" | "tbody";
  /** Its index among the chunks. The first chunk is rendered from the start. */
  n: number;
  /** Height of its rows in pixels until they have been measured. */
  height: number;
  rows(): ReactNode;
}

/** Some rows of a long list or table, which are rendered while the window is near them. */
export function VirtualRows({ as, n, height, rows }: Props) {
  const list = useRef<HTMLOListElement>(null);
  const group = useRef<HTMLTableSectionElement>(null);
  const [shown, setShown] = useState({ isNear: n === 0, height });
  useEffect(() => {
    const element = (list.current ?? group.current)!;
    const update = (entry: IntersectionObserverEntry) => {
      const isNear = entry.isIntersecting || element.contains(document.activeElement);
      setShown((before) => ({
        isNear,
        // only rendered rows have a measurable height
        height: before.isNear ? entry.boundingClientRect.height : before.height,
      }));
    };
    const observer = new IntersectionObserver((entries) => update(entries.at(-1)!), { rootMargin: MARGIN });
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  const style = { height: shown.height };
  if (as === "tbody") return <tbody ref={group}>{shown.isNear ? rows() : <tr style={style} />}</tbody>;
  return (
    <ol ref={list} className="plain" start={n * ROWS_PER_CHUNK + 1} style={shown.isNear ? undefined : style}>
      {shown.isNear && rows()}
    </ol>
  );
}
