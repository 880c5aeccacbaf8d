import type { RecognizedLine, RecognizedWord } from "#services/reading/pictures/recognizer.ts";

/* Parses hOCR, the HTML format in which Tesseract reports words and their positions. */

const ENTITIES: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" };

const decodeText = (text: string): string =>
  text.replace(/<[^>]*>/g, "").replace(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => ENTITIES[name]!);

/** Removes parts of drawn lines that were mistaken for letters. */
const withoutRules = (text: string): string => text.replace(/^[|_¦]+|[|_¦]+$/g, "");

/** Minimum confidence of a text of one or two letters; below it, it is dirt on the paper. */
const MIN_CONFIDENCE = 40;

const isNoise = (text: string, confidence: number): boolean =>
  confidence < MIN_CONFIDENCE && /^\P{N}{1,2}$/u.test(text);

const numbersAfter = (title: string, name: string): number[] =>
  (new RegExp(`\\b${name} ([-\\d. ]+)`).exec(title)?.[1] ?? "").trim().split(" ").map(Number);

function toWord(title: string, content: string): RecognizedWord | null {
  const [x0, , x1] = numbersAfter(title, "bbox");
  const [confidence = 0] = numbersAfter(title, "x_wconf");
  const text = withoutRules(decodeText(content).trim());
  if (text === "" || x0 === undefined || x1 === undefined || isNoise(text, confidence)) return null;
  return { text, x0, x1, confidence };
}

const WORD = /<span class='ocrx_word'[^>]*? title='([^']*)'[^>]*>(.*?)<\/span>/gs;

function toLine(title: string, content: string): RecognizedLine | null {
  const words = [...content.matchAll(WORD)].flatMap(([, words, text]) => toWord(words!, text!) ?? []);
  const [x0 = 0, , x1 = 0, y1 = 0] = numbersAfter(title, "bbox");
  const [slope = 0, offset = 0] = numbersAfter(title, "baseline");
  const [size = 0] = numbersAfter(title, "x_size");
  // the baseline is given at the left end, relative to the lower edge of the box
  const baseline = y1 + offset + (slope * (x1 - x0)) / 2;
  return words.length === 0 || !(size > 0) ? null : { words, baseline, size };
}

/** The lines of a recognized picture, by paragraph. */
export const readHocr = (hocr: string): RecognizedLine[][] =>
  hocr.split("<p class='ocr_par'").flatMap((paragraph) => {
    const lines = paragraph.split(/<span class='ocr_(?=line|caption|header|textfloat)/).slice(1);
    const found = lines.flatMap((line) => {
      const title = /title="([^"]*)"/.exec(line)?.[1];
      return (title && toLine(title, line)) || [];
    });
    return found.length > 0 ? [found] : [];
  });

/** The mean confidence of the characters, from 0 to 100. */
export function meanConfidence(paragraphs: readonly (readonly RecognizedLine[])[]): number {
  let [sum, characters] = [0, 0];
  for (const { words } of paragraphs.flat()) {
    for (const { text, confidence } of words) {
      sum += text.length * confidence;
      characters += text.length;
    }
  }
  return characters === 0 ? 0 : Math.round(sum / characters);
}
