import type { GrayPicture } from "./recognizer.ts";

/* Scans of paper are grainy and have specks. Text recognition takes both for letters. */

/** Mean difference of paper from its neighbours in a grainy scan; clean ones have less than 0.3. */
const MIN_GRAIN = 2;
/** Darker pixels are no paper. */
const BRIGHT = 150;
/** How much darker than the mean of the paper its grain is at most, as a multiple of the mean difference. */
const SPREAD = 3.3;
const PAPER = 255;
/** Pixels of a speck. */
const MAX_SPECK = 12;
/** How many black pixels a speck is as dark as. The dot of an i at 100 dpi has 3. */
const MAX_DARKNESS = 1.7;

interface Paper {
  /** Mean of the bright pixels. */
  shade: number;
  /** Mean difference of a bright pixel from those beside it. */
  grain: number;
}

function measurePaper({ width, height, pixels }: GrayPicture): Paper {
  let [sum, shades, count] = [0, 0, 0];
  for (let y = 1; y < height - 1; y += 3) {
    for (let x = 1; x < width - 1; x += 3) {
      const at = y * width + x;
      const around = [pixels[at - 1]!, pixels[at + 1]!, pixels[at - width]!, pixels[at + width]!];
      if (pixels[at]! < BRIGHT || Math.min(...around) < BRIGHT) continue;
      sum += Math.abs(pixels[at]! - around.reduce((total, one) => total + one, 0) / around.length);
      shades += pixels[at]!;
      count++;
    }
  }
  return count === 0 ? { shade: PAPER, grain: 0 } : { shade: shades / count, grain: sum / count };
}

/** Pixels of ink that touch each other from one on, of which only the first are listed. */
function inkAround({ width, pixels }: GrayPicture, from: number, seen: Uint8Array): number[] {
  const around = [-width - 1, -width, -width + 1, -1, 1, width - 1, width, width + 1];
  const found = [from];
  const open = [from];
  seen[from] = 1;
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    for (const step of around) {
      const next = at + step;
      if (seen[next] !== 0 || pixels[next] === PAPER) continue;
      seen[next] = 1;
      open.push(next);
      if (found.length <= MAX_SPECK) found.push(next);
    }
  }
  return found;
}

/** Removes what is smaller than the smallest dot: one dark pixel, with or without a few faint ones. */
function removeSpecks(picture: GrayPicture): void {
  const { pixels } = picture;
  const seen = new Uint8Array(pixels.length);
  for (let at = 0; at < pixels.length; at++) {
    if (seen[at] !== 0 || pixels[at] === PAPER) continue;
    const ink = inkAround(picture, at, seen);
    const darkness = ink.reduce((sum, one) => sum + PAPER - pixels[one]!, 0) / PAPER;
    if (ink.length <= MAX_SPECK && darkness < MAX_DARKNESS) for (const one of ink) pixels[one] = PAPER;
  }
}

/** The picture with white paper; the same if its paper has no grain. Strokes keep their shades, thin lines too. */
export function removeGrain(picture: GrayPicture): GrayPicture {
  const { shade, grain } = measurePaper(picture);
  if (grain < MIN_GRAIN) return picture;
  const darkest = shade - grain * SPREAD;
  const clean = { ...picture, pixels: picture.pixels.map((value) => (value >= darkest ? PAPER : value)) };
  removeSpecks(clean);
  return clean;
}
