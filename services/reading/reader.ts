import type { ReadingProgress } from "#events/readingProgress.ts";
import type { ReadingWarning } from "#events/readingWarnings.ts";

/* The port for reading files. infra/readers implements it with separate processes, so that no file harms this one. */

export interface FileToRead {
  bytes: Buffer;
  mime_type: string;
  /** Maximum pages whose pictures may be recognized. Default: none. */
  recognize?: number;
  /** The languages of text in pictures, the most frequent first; needed with `recognize`. */
  languages?: string[];
}

/** Called after each page whose text was recognized. */
export type OnProgress = (progress: ReadingProgress) => void;

/** A citable piece of a document's Markdown. Passages follow each other without a gap and never cross a page. */
export interface Passage {
  /** 0, 1, 2 … by position; the same Markdown always gives the same passages. */
  seq: number;
  /** From 1; null if the type has no pages. */
  page: number | null;
  /** The headings above it, `Guide > Install`; null before the first heading. */
  section: string | null;
  /** Half open, in UTF-16 units of the Markdown. */
  start: number;
  end: number;
  /** Searched together with its text: the end of the passage before, or the header of its table. */
  lead: string;
}

/** The pages of a text. */
export interface Pagination {
  /** Pages or slides; null if the type has none. */
  page_count: number | null;
  /** Their lengths in UTF-16 units, each with the blank line after it; null if passages may cross them. `cut` needs them. */
  pages: number[] | null;
  /** Whether the pages are slides. The headings of a slide do not apply to the next one. */
  slides?: true;
}

export interface Reading extends Pagination {
  markdown: string;
  passages: Passage[];
  /** What was left out; empty if nothing. */
  warnings: ReadingWarning[];
  /** Number of pages on which text recognition may find text, because they have pictures, with or without text beside them. */
  scanned?: number;
  /** Pages that were recognized, with or without success. */
  recognized?: number;
}

/** Notes what a reader leaves out or cannot read. */
export type Warn = (warning: ReadingWarning) => void;

/** The file cannot be read; the message explains why. */
export class UnreadableFile extends Error {
  override name = "UnreadableFile";
}

/** The file has text only in pictures, and these were not recognized. */
export class ScannedFile extends UnreadableFile {
  override name = "ScannedFile";
  readonly pages: number;
  constructor(message: string, pages: number) {
    super(message);
    this.pages = pages;
  }
}

/** The stored passages of a text (see encodePassages), and its counts. */
export interface EncodedPassages {
  passages: Buffer;
  page_count: number | null;
  chunk_count: number;
  /** Number of charged characters. */
  characters: number;
}

/** A text in its stored form: bytes, because only a reading process handles 50 MB as a string. */
export interface FileText extends EncodedPassages {
  markdown: Buffer;
  warnings?: ReadingWarning[];
  /** Pages that text recognition may find text on; absent if there are none. */
  scanned?: number;
  /** Pages on which recognition was tried, with or without success; absent if there are none. */
  recognized?: number;
  /** The languages that recognition looked for; absent if no page was recognized. */
  ocr_languages?: string[];
}

/** The addresses in a sitemap. */
export interface Sitemap {
  sitemaps: string[];
  pages: string[];
  /** False if it has more than are read. */
  complete: boolean;
}

export interface Reader {
  /**
   * Reads a file into Markdown and cuts it into passages. Owners take turns at the processes. Throws UnreadableFile, also if the file
   * takes too much time or memory, and ScannedFile if only text recognition can help.
   */
  read(file: FileToRead, owner?: string, onProgress?: OnProgress): Promise<FileText>;
  /** Cuts Markdown that was read earlier. */
  cut(markdown: Buffer, paging: Pagination, owner?: string): Promise<EncodedPassages>;
  /** The addresses in a sitemap, which may be compressed with gzip. Throws UnreadableFile. */
  list(sitemap: Buffer, owner?: string): Promise<Sitemap>;
  close(): Promise<void>;
}
