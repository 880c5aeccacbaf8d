import { MEDIA_TYPES, type PictureType } from "#events/mediaTypes.ts";
import { readPdf } from "../pdf/readPdf.ts";
import { ScannedFile, type Warn } from "../reader.ts";
import { checkGif, readGif } from "./gif.ts";
import { checkHeic, readHeic } from "./heic.ts";
import { readJpeg } from "./jpeg.ts";
import { type StoredPicture, toPdf } from "./pictureFile.ts";
import { checkPng, readPng } from "./png.ts";
import type { RecognitionOptions } from "./recognizer.ts";
import { readTiff } from "./tiff.ts";
import { checkWebp, readWebp } from "./webp.ts";

interface Format {
  /** How many pages it has, by its header. Throws UnreadableFile. */
  countPages(bytes: Buffer): number;
  read(bytes: Buffer): StoredPicture[] | Promise<StoredPicture[]>;
}

const one = (check: (bytes: Buffer) => unknown) => (bytes: Buffer) => {
  check(bytes);
  return 1;
};

const FORMATS: Record<PictureType, Format> = {
  [MEDIA_TYPES.png]: { countPages: one(checkPng), read: (bytes) => [readPng(bytes)] },
  [MEDIA_TYPES.jpg]: { countPages: one(readJpeg), read: (bytes) => [readJpeg(bytes)] },
  [MEDIA_TYPES.tiff]: { countPages: (bytes) => readTiff(bytes).length, read: readTiff },
  [MEDIA_TYPES.gif]: { countPages: one(checkGif), read: (bytes) => [readGif(bytes)] },
  [MEDIA_TYPES.heic]: { countPages: one(checkHeic), read: async (bytes) => [await readHeic(bytes)] },
  [MEDIA_TYPES.webp]: { countPages: one(checkWebp), read: async (bytes) => [await readWebp(bytes)] },
};

const NOT_RECOGNIZED = "The file is a picture, and its text was not recognized (OCR).";

/** The text of a picture, one Markdown text per page. Throws UnreadableFile; ScannedFile without `recognition`. */
export async function readPicture(
  type: PictureType,
  file: Uint8Array,
  { warn, recognition }: { warn: Warn; recognition: RecognitionOptions | undefined },
): Promise<string[]> {
  const bytes = Buffer.from(file.buffer, file.byteOffset, file.byteLength);
  const { countPages, read } = FORMATS[type];
  if (!recognition) throw new ScannedFile(NOT_RECOGNIZED, countPages(bytes));
  return readPdf(toPdf(await read(bytes)), warn, recognition);
}
