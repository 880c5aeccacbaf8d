/** UTF-16 units of a passage, about: a text is cut into passages of this length. */
const PASSAGE_LENGTH = 1_200;

/** The bytes of a file's text, about, or of the file itself if it is larger: a compressed file of 60 KB may have 50 MB of text. */
export const estimateTextBytes = ({
  size_bytes,
  chunk_count,
}: {
  size_bytes: number;
  chunk_count: number | null;
}): number => Math.max(size_bytes, (chunk_count ?? 0) * PASSAGE_LENGTH);
