/** What is sent to a model, as far as it makes tokens of the prompt. */
export interface SentSize {
  /** Of texts, and of files that are no pictures. No tokenizer makes more tokens than bytes. */
  bytes: number;
  pictures: number;
}

/** What a request to a model sends, for those who count what it may cost. */
export interface RequestSize extends SentSize {
  max_output_tokens: number | null;
}

/** Of a picture, whatever its size. Providers count up to about 4,800 for most models. */
const PICTURE_TOKENS = 5_000;

/** Providers count the tokens of a picture by its width and height, and not by its bytes. */
export const isSentAsPicture = (mime_type: string): boolean => mime_type.startsWith("image/");

export interface SentFile {
  mime_type: string;
  bytes: number;
}

/** What files add to a request. */
export const sizeOfFiles = (files: SentFile[]): SentSize => ({
  bytes: files.reduce((sum, { mime_type, bytes }) => sum + (isSentAsPicture(mime_type) ? 0 : bytes), 0),
  pictures: files.filter(({ mime_type }) => isSentAsPicture(mime_type)).length,
});

/** The most tokens that a provider makes of it. */
export const tokensOf = ({ bytes, pictures }: SentSize): number => bytes + pictures * PICTURE_TOKENS;
