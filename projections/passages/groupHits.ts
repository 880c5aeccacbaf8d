import type { ReadingWarning } from "#events/readingWarnings.ts";
import type { LiveDocument } from "../documents/query.ts";
import type { FoundPassage } from "./engine.ts";
import type { Highlight } from "./highlights.ts";
import { formatReference } from "./formatReference.ts";
import { tableHeader } from "./tableHeader.ts";

/** A found passage with its document. */
export interface Hit {
  passage: FoundPassage;
  document: LiveDocument;
  /** Comparable only within one response. */
  score: number;
}

/** A document with its passages on this page, best first (spec: search response). */
export interface SearchResult {
  /** `collection` is the display name. */
  document: {
    id: string;
    name: string;
    collection_id: string;
    collection: string;
    version: number;
    warnings: ReadingWarning[];
  };
  score: number;
  passages: {
    seq: number;
    /** Null if the type has no pages. `section` is null if the document has no headings. */
    page: number | null;
    section: string | null;
    reference: string;
    score: number;
    /** The header of the table whose rows the content continues. */
    table_header?: string;
    content: string;
    /** Where the content begins in the document's Markdown. Absent while an older index serves. */
    start?: number;
    end?: number;
    /** Places of the query's words in the content; absent if not requested. */
    highlights?: Highlight[];
  }[];
  /** Number of further matching passages of the document; absent if hits are grouped by document. */
  more_passages?: number;
}

/** Where a passage's trimmed content is in the Markdown of its document. */
const contentPlace = ({ start, text }: FoundPassage, content: string): { start?: number; end?: number } => {
  if (start === undefined) return {};
  const first = start + text.length - text.trimStart().length;
  return { start: first, end: first + content.length };
};

/** Groups hits by document, in the order of each document's best hit. */
export const groupByDocument = (hits: Hit[], highlight?: (text: string) => Highlight[]): SearchResult[] => {
  const results = new Map<string, SearchResult>();
  for (const { passage, document, score } of hits) {
    const { id, name, collection_id, collection, live_generation: version, warnings } = document;
    const described = { id, name, collection_id, collection, version, warnings };
    const result = results.get(id) ?? { document: described, score, passages: [] };
    const { seq, page, section } = passage;
    const content = passage.text.trim();
    const table_header = tableHeader(passage);
    result.passages.push({
      seq,
      page,
      section,
      reference: formatReference(passage),
      score,
      ...(table_header !== undefined && { table_header }),
      content,
      ...contentPlace(passage, content),
      ...(highlight && { highlights: highlight(content) }),
    });
    results.set(id, result);
  }
  return [...results.values()];
};

/** Each document with only its best passage, and the number of the others. */
export const keepBestPassages = (results: SearchResult[]): SearchResult[] =>
  results.map((result) => ({
    ...result,
    passages: result.passages.slice(0, 1),
    more_passages: result.passages.length - 1,
  }));
