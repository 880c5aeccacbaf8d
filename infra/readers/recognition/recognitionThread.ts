import { parentPort, workerData } from "node:worker_threads";
import { takeDrawnLines } from "./drawnLines.ts";
import { meanConfidence, readHocr } from "./hocr.ts";
import type { GrayPicture, RecognizedPicture } from "#services/reading/pictures/recognizer.ts";
import { straighten } from "./straighten.ts";
import { isSideways, rotateRight } from "./rotate.ts";
import { openTesseract, type Tesseract, type TesseractOptions } from "./tesseract.ts";

/* The thread that recognizes text. It blocks for seconds, and ends if a picture exhausts its memory. */

/** Minimum confidence of an upright page; below it the other directions are tried. A page upside down gets 20 to 60. */
const MIN_UPRIGHT_CONFIDENCE = 70;
/** Quarter turns between attempts: upside down first, then on each side. */
const TURNS = [2, 1, 2];
/** After this processor time no other direction is tried: photographs and noise take ten times as long as text. */
const MAX_TRIAL_MS = 15_000;
/** Any usual value works, because letter sizes are measured in pixels. */
const DPI = 300;

const toGrayMap = ({ width, height, pixels }: GrayPicture): Uint8Array =>
  Buffer.concat([Buffer.from(`P5\n${width} ${height}\n255\n`), pixels]);

function recognizeAsIs(tesseract: Tesseract, { width, height, pixels }: GrayPicture): RecognizedPicture {
  // a copy, because the lines are needed again if the picture is turned
  const picture = { width, height, pixels: pixels.slice() };
  const drawn = takeDrawnLines(picture);
  const paragraphs = readHocr(tesseract.recognize(toGrayMap(picture), DPI));
  return { width, height, paragraphs, drawn, confidence: meanConfidence(paragraphs) };
}

const turn = (picture: GrayPicture, quarters: number): GrayPicture =>
  quarters === 0 ? picture : turn(rotateRight(picture), quarters - 1);

/** The text in the direction with the highest confidence. */
function recognize(tesseract: Tesseract, picture: GrayPicture): RecognizedPicture {
  // a busy machine lets seconds pass in which nothing is recognized
  const start = process.threadCpuUsage();
  const spentMs = (): number => {
    const { user, system } = process.threadCpuUsage(start);
    return (user + system) / 1_000;
  };
  let turned = straighten(isSideways(picture) ? rotateRight(picture) : picture);
  let best = recognizeAsIs(tesseract, turned);
  for (const quarters of TURNS) {
    if (best.confidence >= MIN_UPRIGHT_CONFIDENCE || spentMs() > MAX_TRIAL_MS) break;
    turned = turn(turned, quarters);
    const found = recognizeAsIs(tesseract, turned);
    if (found.confidence > best.confidence) best = found;
  }
  return best;
}

const tesseract = openTesseract(workerData as TesseractOptions);

parentPort!.on("message", (picture: GrayPicture) => {
  // a failure ends the thread, because its memory may be corrupt
  void tesseract.then((open) => parentPort!.postMessage(recognize(open, picture)));
});
