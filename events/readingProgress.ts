/** How many pages of a file text recognition has read, of those that it will read. */
export interface ReadingProgress {
  pages_read: number;
  pages_total: number;
}

/** Reports how far readings are to the processes that show it. Messages may be lost: the next one follows within seconds. */
export interface ReadingReports {
  publish(stream: string, progress: ReadingProgress): void;
  subscribe(listener: (stream: string, progress: ReadingProgress) => void): () => void;
}
