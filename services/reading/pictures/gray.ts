import type { GrayPicture } from "./recognizer.ts";

/** A picture, and how much each pixel covers what is below it (255: all); no opacity: all of it covers. */
export interface Layer extends GrayPicture {
  opacity?: Uint8Array;
}

export interface RawPixels {
  width: number;
  height: number;
  data: ArrayLike<number>;
  /** Values per pixel: grey, or red, green and blue; then perhaps opacity. */
  channels: number;
  /** The value of white. */
  white?: number;
}

/** Grey of a picture. Opacity is kept apart. */
export function toGray({ width, height, data, channels, white = 255 }: RawPixels): Layer {
  const count = width * height;
  const pixels = new Uint8Array(count);
  const colors = channels >= 3 ? 3 : 1;
  const opacity = channels > colors ? new Uint8Array(count) : undefined;
  const scale = 255 / white;
  for (let i = 0, at = 0; i < count; i++, at += channels) {
    const value = colors === 1 ? data[at]! : 0.299 * data[at]! + 0.587 * data[at + 1]! + 0.114 * data[at + 2]!;
    pixels[i] = value * scale;
    if (opacity) opacity[i] = data[at + colors]! * scale;
  }
  return opacity ? { width, height, pixels, opacity } : { width, height, pixels };
}

/** Grey of one bit per pixel, rows padded to bytes; `one`: the shade of a set bit, `zero`: of the others. */
export function grayFromBits(
  { width, height, data }: { width: number; height: number; data: ArrayLike<number> },
  [zero, one]: readonly [number, number],
): Uint8Array {
  const pixels = new Uint8Array(width * height);
  const stride = (width + 7) >> 3;
  for (let y = 0, at = 0; y < height; y++) {
    for (let x = 0; x < width; x++, at++) pixels[at] = (data[y * stride + (x >> 3)]! >> (7 - (x & 7))) & 1 ? one : zero;
  }
  return pixels;
}

/** Means of `factor` × `factor` values: a picture at less resolution. */
function shrinkValues(values: Uint8Array, width: number, height: number, factor: number): Uint8Array {
  const [w, h] = [Math.ceil(width / factor), Math.ceil(height / factor)];
  const out = new Uint8Array(w * h);
  for (let y = 0; y < h; y++) {
    const toY = Math.min(height, (y + 1) * factor);
    for (let x = 0; x < w; x++) {
      const toX = Math.min(width, (x + 1) * factor);
      let sum = 0;
      for (let v = y * factor; v < toY; v++) for (let u = x * factor; u < toX; u++) sum += values[v * width + u]!;
      out[y * w + x] = sum / ((toY - y * factor) * (toX - x * factor));
    }
  }
  return out;
}

/** Divides both sides by `factor`, a whole number; 1 or less changes nothing. */
export function shrinkLayer(layer: Layer, factor: number): Layer {
  if (factor <= 1) return layer;
  const { width, height, pixels, opacity } = layer;
  return {
    width: Math.ceil(width / factor),
    height: Math.ceil(height / factor),
    pixels: shrinkValues(pixels, width, height, factor),
    ...(opacity && { opacity: shrinkValues(opacity, width, height, factor) }),
  };
}
