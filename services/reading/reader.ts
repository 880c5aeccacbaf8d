/* The port to the reading of files: infra/readers runs it in a process of its own, so that no file harms this one. */

export interface FileToRead {
  bytes: Buffer;
  mime_type: string;
  /** Its extension tells apart what looks alike; never a path. */
  name: string;
}

/** A citable piece of a document's Markdown. Pieces follow each other without a gap and never cross a page. */
export interface Passage {
  /** 0, 1, 2 … by position: the same Markdown gives the same pieces. */
  seq: number;
  /** From 1; null where the type has no pages. */
  page: number | null;
  /** The headings above it, `Guide > Install`; null before the first heading. */
  section: string | null;
  /** Half open, in UTF-16 units of the Markdown. */
  start: number;
  end: number;
  /** What search knows it by beside its own text: the end of the piece before, or the header of its table. */
  lead: string;
}

/** The pages of a text. */
export interface Paging {
  /** Pages or slides; null where the type has none. */
  page_count: number | null;
  /** Their lengths in UTF-16 units, each with the blank line that follows it: what `cut` needs to cut it again. */
  pages: number[] | null;
}

export interface Reading extends Paging {
  markdown: string;
  passages: Passage[];
}

/** The file cannot be read; the message tells a person why. */
export class UnreadableFile extends Error {
  override name = "UnreadableFile";
}

/** The passages of a text as they are kept (see encodePassages), and what is told of it. */
export interface CutText {
  passages: Buffer;
  page_count: number | null;
  chunk_count: number;
  /** Characters as they are charged. */
  characters: number;
}

/** A text as it is kept: nobody but the reading process parses 50 MB of it. */
export interface ReadText extends CutText {
  markdown: Buffer;
}

export interface Reader {
  /** Reads a file into Markdown and cuts it into passages. Throws UnreadableFile, also when it takes too long or too much. */
  read(file: FileToRead): Promise<ReadText>;
  /** Cuts Markdown that was read before. */
  cut(markdown: Buffer, paging: Paging): Promise<CutText>;
  close(): Promise<void>;
}
