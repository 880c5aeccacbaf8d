import { hasGiantJpeg } from "../pictures/jpeg.ts";
import { RecognitionFailed, type RecognitionOptions, type RecognizedPicture } from "../pictures/recognizer.ts";
import { countLetters, MIN_CONFIDENCE } from "../warnings.ts";
import type { FontStyles } from "./fontStyles.ts";
import { type Box, boundingBox, height, type Matrix, multiply, width } from "./geometry.ts";
import { type Layers, readLayers } from "./layers.ts";
import { openPdf, type PdfPage } from "./openPdf.ts";
import { readPageImages } from "./pageImages.ts";
import type { PagePictures } from "./pagePictures.ts";
import { paintImages } from "./paintImages.ts";
import { type LaidOutPage, layOut } from "./readPage.ts";
import { keepConfidentLines, toRules, toRuns } from "./recognizedRuns.ts";

/** A page whose images are recognized. */
export interface PageToRecognize {
  /** From 1. */
  number: number;
  /** For a page with text, the pictures on it. Null means all its images. */
  pictures: PagePictures | null;
}

/** The results of text recognition. Page numbers are from 1. */
export interface RecognizedPages {
  /** Pages without text of their own. */
  pages: Map<number, LaidOutPage>;
  /** The text of pictures on pages with text. */
  pictures: Map<number, LaidOutPage>;
  /** The confidence, from 0 to 100. */
  confidence: Map<number, number>;
  /** Pages whose pictures could not be read. */
  unreadable: number[];
  /** Pages without text that were not read, because no more pages may be recognized. */
  beyondLimit: number[];
  /** Pages with text whose pictures have no text or were read completely. */
  complete: number[];
}

interface FoundText {
  recognized: RecognizedPicture;
  pixelsPerPoint: number;
}

/** The painted part of a page: all of it, or the area of its pictures. */
function frameOf(page: PdfPage, pictures: PagePictures | null): { matrix: Matrix; size: Box; boxes?: Box[] } {
  if (pictures === null) {
    const view = page.getViewport({ scale: 1 });
    const size = { x0: 0, y0: 0, x1: view.width, y1: view.height };
    return { matrix: view.transform as unknown as Matrix, size };
  }
  const { x0, y0, x1, y1 } = boundingBox(pictures.boxes);
  const move = (box: Box): Box => ({ x0: box.x0 - x0, y0: box.y0 - y0, x1: box.x1 - x0, y1: box.y1 - y0 });
  return {
    matrix: multiply([1, 0, 0, 1, -x0, -y0], pictures.matrix),
    size: move({ x0, y0, x1, y1 }),
    boxes: pictures.boxes.map(move),
  };
}

/** The text in the images of a page; null if it has no images. Throws RecognitionFailed. */
async function recognizePage(
  page: PdfPage,
  pictures: PagePictures | null,
  { recognition, layers }: { recognition: RecognitionOptions; layers: Layers },
): Promise<FoundText | null> {
  const { matrix, size, boxes } = frameOf(page, pictures);
  const { images, failed } = await readPageImages(page, { matrix, layers }, boxes);
  const painted = paintImages(images, { width: width(size), height: height(size) });
  page.cleanup();
  if (!painted && failed > 0) throw new RecognitionFailed("The images of the page could not be decoded.");
  if (!painted) return null;
  const { picture, pixelsPerPoint } = painted;
  return { recognized: await recognition.recognizer.recognize(picture), pixelsPerPoint };
}

const hasWords = ({ paragraphs }: RecognizedPicture): boolean =>
  paragraphs.flat().some(({ words }) => words.some(({ text }) => countLetters(text) > 0));

/** Stores the text of a page's images. Beside typed text only words with a high confidence count, because others may be noise of a photograph. */
function addText(
  found: RecognizedPages,
  { number, pictures }: PageToRecognize,
  { recognized: all, pixelsPerPoint }: FoundText,
  fonts: FontStyles,
): void {
  const recognized = pictures === null ? all : keepConfidentLines(all, MIN_CONFIDENCE);
  if (pictures !== null && !hasWords(recognized)) {
    if (!hasWords(all)) found.complete.push(number);
    return;
  }
  if (pictures !== null) found.complete.push(number);
  const size = { height: recognized.height / pixelsPerPoint, rules: toRules(recognized, pixelsPerPoint) };
  const text = layOut(toRuns(recognized, pixelsPerPoint), size, fonts);
  (pictures === null ? found.pages : found.pictures).set(number, text);
  found.confidence.set(number, recognized.confidence);
}

/** Recognizes the text of these pages' images, up to the limit. A failed page affects no other page. */
export async function recognizePages(
  bytes: Uint8Array,
  wanted: readonly PageToRecognize[],
  { recognition, fonts }: { recognition: RecognitionOptions; fonts: FontStyles },
): Promise<RecognizedPages> {
  const found: RecognizedPages = {
    pages: new Map(),
    pictures: new Map(),
    confidence: new Map(),
    unreadable: [],
    beyondLimit: [],
    complete: [],
  };
  // the decoder uses the image's own header, not the PDF's
  if (hasGiantJpeg(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)))
    return { ...found, unreadable: wanted.map(({ number }) => number) };
  const pdf = await openPdf(bytes, { images: true });
  const layers = await readLayers(pdf);
  let tried = 0;
  for (const [index, one] of wanted.entries()) {
    if (tried >= recognition.pages) {
      if (one.pictures === null) found.beyondLimit.push(one.number);
      continue;
    }
    try {
      const text = await recognizePage(await pdf.getPage(one.number), one.pictures, { recognition, layers });
      if (!text) {
        if (one.pictures !== null) found.complete.push(one.number);
        continue;
      }
      tried++;
      addText(found, one, text, fonts);
    } catch (error) {
      if (!(error instanceof RecognitionFailed)) throw error;
      tried++;
      found.unreadable.push(one.number);
    }
    recognition.onProgress?.({ pages_read: index + 1, pages_total: wanted.length });
  }
  await pdf.loadingTask.destroy();
  return found;
}
