/** The size of a request to a model, for estimates of its cost. */
export interface RequestSize {
  /** Bytes of its texts, and of files that are not pictures. No tokenizer makes more tokens than bytes. */
  bytes: number;
  pictures: number;
  max_output_tokens: number | null;
}

/** Providers count a picture's tokens by its width and height, not by its bytes. */
export const isSentAsPicture = (mime_type: string): boolean => mime_type.startsWith("image/");

export interface SentFile {
  mime_type: string;
  bytes: number;
}

/** What files add to a request. */
export const sizeOfFiles = (files: SentFile[]): Omit<RequestSize, "max_output_tokens"> => ({
  bytes: files.reduce((sum, { mime_type, bytes }) => sum + (isSentAsPicture(mime_type) ? 0 : bytes), 0),
  pictures: files.filter(({ mime_type }) => isSentAsPicture(mime_type)).length,
});
