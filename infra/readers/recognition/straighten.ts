import type { GrayPicture } from "#services/reading/pictures/recognizer.ts";

/** Maximum skew in degrees; more is another orientation. */
const MAX_ANGLE = 6;
const STEP = 0.5;
const FINE_STEP = 0.1;
/** Smaller angles do no harm, in degrees. */
const MIN_ANGLE = 0.25;
/** How much sharper than the original the lines of text must become. */
const MIN_GAIN = 1.1;
/** The picture's longer side in pixels while the angle is measured. */
const MEASURED_SIDE = 1_000;
const INK = 128;
const PAPER = 255;

interface Point {
  x: number;
  y: number;
}

/** The points with ink, at lower resolution. */
function inkOf({ width, height, pixels }: GrayPicture): { points: Point[]; side: number } {
  const step = Math.max(1, Math.floor(Math.max(width, height) / MEASURED_SIDE));
  const points: Point[] = [];
  for (let y = 0; y < height; y += step)
    for (let x = 0; x < width; x += step) if (pixels[y * width + x]! < INK) points.push({ x: x / step, y: y / step });
  return { points, side: Math.ceil((width + height) / step) };
}

/** How sharply lines of text stand out if the page is rotated by an angle: the sum of the squared ink of each row. */
function sharpness({ points, side }: { points: readonly Point[]; side: number }, degrees: number): number {
  const slope = Math.tan((degrees * Math.PI) / 180);
  const rows = new Float64Array(2 * side);
  for (const { x, y } of points) rows[Math.round(y - x * slope) + Math.floor(side / 2)]!++;
  return rows.reduce((sum, count) => sum + count * count, 0);
}

const angles = (from: number, to: number, step: number): number[] =>
  Array.from({ length: Math.round((to - from) / step) + 1 }, (_, n) => from + n * step);

/** The skew in degrees: how much lines of text fall towards the right. 0 if they are straight or there are none. */
export function findSkew(picture: GrayPicture): number {
  const ink = inkOf(picture);
  const best = (tried: readonly number[]): number =>
    tried.reduce((found, angle) => (sharpness(ink, angle) > sharpness(ink, found) ? angle : found), 0);
  const rough = best(angles(-MAX_ANGLE, MAX_ANGLE, STEP));
  const fine = best(angles(rough - STEP, rough + STEP, FINE_STEP));
  const isClear = sharpness(ink, fine) > sharpness(ink, 0) * MIN_GAIN;
  return isClear && Math.abs(fine) >= MIN_ANGLE ? fine : 0;
}

/** Rotates the picture back by an angle. The size stays, and corners become paper. */
function rotate({ width, height, pixels }: GrayPicture, degrees: number): GrayPicture {
  const [sin, cos] = [Math.sin((degrees * Math.PI) / 180), Math.cos((degrees * Math.PI) / 180)];
  const [middleX, middleY] = [width / 2, height / 2];
  const out = new Uint8Array(width * height).fill(PAPER);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const [dx, dy] = [x - middleX, y - middleY];
      const [fromX, fromY] = [middleX + dx * cos - dy * sin, middleY + dx * sin + dy * cos];
      const [left, top] = [Math.floor(fromX), Math.floor(fromY)];
      if (left < 0 || top < 0 || left >= width - 1 || top >= height - 1) continue;
      const [right, below, at] = [fromX - left, fromY - top, top * width + left];
      const upper = pixels[at]! * (1 - right) + pixels[at + 1]! * right;
      const lower = pixels[at + width]! * (1 - right) + pixels[at + width + 1]! * right;
      out[y * width + x] = upper * (1 - below) + lower * below;
    }
  }
  return { width, height, pixels: out };
}

/** Straightens the lines of text. Returns the same picture if they are straight already. */
export function straighten(picture: GrayPicture): GrayPicture {
  const angle = findSkew(picture);
  return angle === 0 ? picture : rotate(picture, angle);
}
