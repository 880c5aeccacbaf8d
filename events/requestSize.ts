import { LARGEST_WINDOW } from "./contextWindows.ts";

/** The size of a request to a model, for estimates of its cost. */
export interface RequestSize {
  /** Bytes of its texts, and of files that are not pictures. No tokenizer makes more tokens than bytes. */
  bytes: number;
  pictures: number;
  max_output_tokens: number | null;
}

const jsonBytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));
const TEXT = { type: "text" };
const WITHOUT_LIST = jsonBytes([undefined, TEXT]);
const WITHOUT_TOOLS = jsonBytes([[], TEXT]);

/** Bytes of a request's tools and format as JSON, which is not written for most: those without tools that ask for text. */
export function bytesOfOffer(tools: readonly unknown[] | undefined, format: { type: string }): number {
  if (format.type !== TEXT.type || (tools && tools.length > 0)) return jsonBytes([tools, format]);
  return tools ? WITHOUT_TOOLS : WITHOUT_LIST;
}

/** Providers count a picture's tokens by its width and height, not by its bytes. */
export const isSentAsPicture = (mime_type: string): boolean => mime_type.startsWith("image/");

/** The first bytes of pictures that every provider reads. */
const SIGNATURES: [start: RegExp, mime_type: string][] = [
  [/^\u0089PNG\r\n/, "image/png"],
  [/^\u00ff\u00d8\u00ff/, "image/jpeg"],
  [/^GIF8[79]a/, "image/gif"],
  [/^RIFF[^]{4}WEBP/, "image/webp"],
];

/**
 * The type with which a file is sent: for a picture, that of its bytes. OpenAI reads pictures under any name, such as `image/jpg`, but
 * other providers refuse wrong ones.
 */
export function sentType(mime_type: string, bytes: Buffer): string {
  if (!isSentAsPicture(mime_type)) return mime_type;
  const head = bytes.toString("latin1", 0, 12);
  return SIGNATURES.find(([start]) => start.test(head))?.[1] ?? mime_type;
}

export interface SentFile {
  mime_type: string;
  bytes: number;
}

/** What files add to a request. */
export function sizeOfFiles(files: SentFile[]): Omit<RequestSize, "max_output_tokens"> {
  const size = { bytes: 0, pictures: 0 };
  for (const file of files)
    if (isSentAsPicture(file.mime_type)) size.pictures += 1;
    else size.bytes += file.bytes;
  return size;
}

/** Typical tokens per file: providers count pictures by width and height, and a PDF page as a picture and its text. */
const USUAL_PICTURE = 1_500;
const BYTES_OF_TOKEN = { text: 4, others: 30 };

function probableTokens({ mime_type, bytes }: SentFile): number {
  if (isSentAsPicture(mime_type)) return USUAL_PICTURE;
  return Math.ceil(bytes / BYTES_OF_TOKEN[mime_type.startsWith("text/") ? "text" : "others"]);
}

/**
 * Adds to the tokens of a prompt's texts what its files probably count (ADR 98). Files fill at most `window`, the model's context
 * window in tokens, or the largest known one.
 */
export function addFileTokens(texts: number, files: SentFile[], window = LARGEST_WINDOW): number {
  const ofFiles = files.reduce((sum, file) => sum + probableTokens(file), 0);
  return texts + Math.min(ofFiles, Math.max(0, window - texts));
}
