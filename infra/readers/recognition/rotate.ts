import type { GrayPicture } from "#services/reading/pictures/recognizer.ts";

/** The picture turned clockwise by 90°. */
export function rotateRight({ width, height, pixels }: GrayPicture): GrayPicture {
  const out = new Uint8Array(pixels.length);
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) out[x * height + (height - 1 - y)] = pixels[y * width + x]!;
  return { width: height, height: width, pixels: out };
}

/** Values below are ink. */
const DARK = 128;

/** Assumed half distances between lines of text, in pixels. */
const STEPS = [6, 9, 13, 19, 28, 40];

/** How much the ink of rows (or columns) differs from that of rows one step away, because lines of text alternate with gaps. */
function contrast(ink: Uint32Array): number {
  const total = ink.reduce((sum, one) => sum + one * one, 0);
  const differences = STEPS.map((step) => {
    let sum = 0;
    for (let i = step; i < ink.length; i++) sum += (ink[i]! - ink[i - step]!) ** 2;
    return sum;
  });
  return total === 0 ? 0 : Math.max(...differences) / total;
}

/** Whether lines of text seem to run vertically. */
export function isSideways({ width, height, pixels }: GrayPicture): boolean {
  const [rows, columns] = [new Uint32Array(height), new Uint32Array(width)];
  for (let y = 0, at = 0; y < height; y++) {
    for (let x = 0; x < width; x++, at++) {
      if (pixels[at]! >= DARK) continue;
      rows[y]! += 1;
      columns[x]! += 1;
    }
  }
  return contrast(columns) > contrast(rows);
}
