import { hasGiantJpeg } from "../pictures/jpeg.ts";
import { PictureFailed, type Recognition, type RecognizedPicture } from "../pictures/recognizer.ts";
import type { FontStyles } from "./fontStyles.ts";
import type { Matrix } from "./geometry.ts";
import { openPdf, type PdfPage } from "./openPdf.ts";
import { readPageImages } from "./pageImages.ts";
import { paintImages } from "./paintImages.ts";
import { type LaidOutPage, layOut } from "./readPage.ts";
import { toRules, toRuns } from "./recognizedRuns.ts";

/** What text recognition did on pages without text. Page numbers are from 1. */
export interface RecognizedPages {
  pages: Map<number, LaidOutPage>;
  /** How sure it is of them, from 0 to 100. */
  confidence: Map<number, number>;
  /** Their pictures could not be read. */
  unreadable: number[];
  /** Not read, because no more pages may be recognized. */
  beyondLimit: number[];
}

interface FoundText {
  recognized: RecognizedPicture;
  pixelsPerPoint: number;
}

/** The text in the images of a page; null if it has no images. Throws PictureFailed. */
async function recognizePage(page: PdfPage, recognition: Recognition): Promise<FoundText | null> {
  const view = page.getViewport({ scale: 1 });
  const { images, failed } = await readPageImages(page, view.transform as unknown as Matrix);
  const painted = paintImages(images, view);
  page.cleanup();
  if (!painted && failed > 0) throw new PictureFailed("The images of the page could not be decoded.");
  if (!painted) return null;
  const { picture, pixelsPerPoint } = painted;
  return { recognized: await recognition.recognizer.recognize(picture), pixelsPerPoint };
}

/** Recognizes the text of these pages in their images. A page that fails costs only itself. */
export async function recognizePages(
  bytes: Uint8Array,
  numbers: readonly number[],
  { recognition, fonts }: { recognition: Recognition; fonts: FontStyles },
): Promise<RecognizedPages> {
  const found: RecognizedPages = { pages: new Map(), confidence: new Map(), unreadable: [], beyondLimit: [] };
  // the decoder believes the image's own header, not the PDF's
  if (hasGiantJpeg(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)))
    return { ...found, unreadable: [...numbers] };
  const pdf = await openPdf(bytes, { images: true });
  for (const number of numbers) {
    if (found.pages.size + found.unreadable.length >= recognition.pages) {
      found.beyondLimit.push(number);
      continue;
    }
    try {
      const text = await recognizePage(await pdf.getPage(number), recognition);
      if (!text) continue;
      const { recognized, pixelsPerPoint } = text;
      const page = { height: recognized.height / pixelsPerPoint, rules: toRules(recognized, pixelsPerPoint) };
      found.pages.set(number, layOut(toRuns(recognized, pixelsPerPoint), page, fonts));
      found.confidence.set(number, recognized.confidence);
    } catch (error) {
      if (!(error instanceof PictureFailed)) throw error;
      found.unreadable.push(number);
    }
  }
  await pdf.loadingTask.destroy();
  return found;
}
