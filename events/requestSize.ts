/** What a request to a model sends, for those who count what it may cost. */
export interface RequestSize {
  /** Of its texts, and of files that are no pictures. No tokenizer makes more tokens than bytes. */
  bytes: number;
  pictures: number;
  max_output_tokens: number | null;
}

/** Providers count the tokens of a picture by its width and height, and not by its bytes. */
export const isSentAsPicture = (mime_type: string): boolean => mime_type.startsWith("image/");
