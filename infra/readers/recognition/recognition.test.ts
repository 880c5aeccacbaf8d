import { expect, test } from "vitest";
import { takeDrawnLines } from "./drawnLines.ts";
import { meanConfidence, readHocr } from "./hocr.ts";
import { findSkew, straighten } from "./straighten.ts";
import { isSideways, rotateRight } from "./rotate.ts";

const HOCR = `<div class='ocr_page' title='bbox 0 0 400 100'>
 <p class='ocr_par' id='par_1_1'>
  <span class='ocr_line' id='line_1_1' title="bbox 10 20 210 50; baseline 0.02 -8; x_size 30; x_descenders 6">
   <span class='ocrx_word' id='word_1_1' title='bbox 10 20 90 50; x_wconf 90'>Fish &amp;</span>
   <span class='ocrx_word' id='word_1_2' title='bbox 100 20 210 50; x_wconf 60'>|chips|</span>
   <span class='ocrx_word' id='word_1_4' title='bbox 214 20 220 50; x_wconf 22'>oo</span>
   <span class='ocrx_word' id='word_1_3' title='bbox 212 20 214 50; x_wconf 10'>|</span>
  </span>
 </p>
</div>`;

test("words are read from hOCR with their places, and drawn lines are not read as letters", () => {
  const paragraphs = readHocr(HOCR);
  expect(paragraphs).toEqual([
    [
      {
        words: [
          { text: "Fish &", x0: 10, x1: 90, confidence: 90 },
          { text: "chips", x0: 100, x1: 210, confidence: 60 },
        ],
        baseline: 44,
        size: 30,
      },
    ],
  ]);
  expect(meanConfidence(paragraphs)).toBe(76);
  expect(meanConfidence([])).toBe(0);
});

/** Draws lines of text as bars, every 20 rows. */
const barsOfText = (width: number, height: number) => {
  const pixels = new Uint8Array(width * height).fill(255);
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) if (y % 20 < 10 && (x * 7 + y) % 3 > 0) pixels[y * width + x] = 0;
  return { width, height, pixels };
};

test("a page on its side shows by the direction of its lines", () => {
  const page = barsOfText(300, 400);
  expect(isSideways(page)).toBe(false);
  expect(isSideways(rotateRight(page))).toBe(true);
  expect(isSideways({ width: 50, height: 50, pixels: new Uint8Array(2_500).fill(255) })).toBe(false);
  const small = { width: 2, height: 1, pixels: Uint8Array.of(1, 2) };
  expect(rotateRight(small)).toEqual({ width: 1, height: 2, pixels: Uint8Array.of(1, 2) });
  expect(rotateRight(rotateRight(small)).pixels).toEqual(Uint8Array.of(2, 1));
});

test.each([-3, 1.2, 4])("a page that is %d° askew is made straight", (degrees) => {
  const [width, height] = [600, 800];
  const slope = Math.tan((degrees * Math.PI) / 180);
  const pixels = new Uint8Array(width * height).fill(255);
  for (let y = 100; y < 700; y++)
    for (let x = 60; x < 540; x++) if ((y - Math.round(x * slope)) % 24 < 9 && x % 7 > 1) pixels[y * width + x] = 0;
  const page = { width, height, pixels };
  expect(findSkew(page)).toBeCloseTo(degrees, 0);
  expect(Math.abs(findSkew(straighten(page)))).toBeLessThan(0.3);
});

test("a straight page, a blank one and a photograph are not turned", () => {
  const page = barsOfText(600, 800);
  const noise = { ...page, pixels: page.pixels.map((_, n) => (n * 7_919 + n * n) % 256) };
  const blank = { ...page, pixels: page.pixels.map(() => 255) };
  for (const picture of [page, noise, blank]) expect(straighten(picture)).toBe(picture);
});

test("drawn lines are found and taken out, short strokes and thick bars stay", () => {
  const [width, height] = [400, 640];
  const pixels = new Uint8Array(width * height).fill(255);
  const fill = (x0: number, y0: number, x1: number, y1: number) => {
    for (let y = y0; y < y1; y++) pixels.fill(0, y * width + x0, y * width + x1);
  };
  fill(50, 100, 350, 102);
  fill(200, 150, 202, 400);
  fill(20, 20, 30, 22);
  fill(50, 500, 350, 520);
  expect(takeDrawnLines({ width, height, pixels })).toEqual({
    across: [{ at: 100.5, from: 50, to: 350 }],
    down: [{ at: 200.5, from: 150, to: 400 }],
  });
  const isInk = (x: number, y: number) => pixels[y * width + x] === 0;
  expect([isInk(100, 100), isInk(200, 300), isInk(25, 21), isInk(100, 510)]).toEqual([false, false, true, true]);
});
