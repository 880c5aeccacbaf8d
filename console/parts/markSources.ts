import type { Citation } from "../api/chat.ts";
import type { Source } from "../api/types.ts";

/** The distinct sources of a text, and the text with a mark after each part that has a source. */
export function markSources(text: string, citations: Citation[]): { sources: Source[]; marked: string } {
  const sources: Source[] = [];
  const marks = new Map<number, Set<number>>();
  for (const { url, title, seq, version, start_index, end_index } of citations) {
    let n = sources.findIndex((source) => source.url === url && source.title === title) + 1;
    if (n === 0) n = sources.push({ url, title, seq, version });
    const isPart = start_index > 0 || end_index < text.length || citations.length === 1;
    if (isPart && end_index > start_index && end_index <= text.length)
      marks.set(end_index, (marks.get(end_index) ?? new Set()).add(n));
  }
  let marked = text;
  for (const [at, numbers] of [...marks].toSorted(([a], [b]) => b - a))
    marked = `${marked.slice(0, at)} ${[...numbers].map((n) => `[${n}](source:${n})`).join(" ")}${marked.slice(at)}`;
  return { sources, marked };
}
