import { grayFromBits, type Layer, shrinkLayer, toGray } from "../pictures/gray.ts";
import { removeGrain } from "../pictures/grain.ts";
import type { GrayPicture } from "../pictures/recognizer.ts";
import { type Matrix, multiply, transformPoint } from "./geometry.ts";
import type { ImageData, PlacedImage } from "./pageImages.ts";

/** Points per inch. */
const INCH = 72;
/** Text recognition gains nothing from a higher resolution. */
const MAX_DPI = 300;
/** Below this resolution letters are enlarged, because text recognition needs capitals of at least 20 pixels. */
const FEW_DPI = 180;
/** Maximum pixels of a page's picture: an A3 page at 260 dpi, and at most 20 s of text recognition. */
const MAX_PAINTED = 13_000_000;

/** `width` and `height` of a page, in points. */
interface PageSize {
  width: number;
  height: number;
}

const areaOf = (matrix: Matrix): number => Math.abs(matrix[0] * matrix[3] - matrix[1] * matrix[2]);

/** Pixels per point of a page's picture: the resolution of its sharpest large image, within limits. */
function choosePixelsPerPoint(images: readonly PlacedImage[], { width, height }: PageSize): number {
  let sharpest = 0;
  for (const { image, matrix } of images) {
    const area = areaOf(matrix);
    const strip = image.width >= width;
    if (area >= 0.02 * width * height || strip)
      sharpest = Math.max(sharpest, Math.sqrt((image.width * image.height) / Math.max(1e-6, area)));
  }
  const dpi = (sharpest || 2) * INCH;
  const wanted = dpi < FEW_DPI ? Math.min(2 * dpi, FEW_DPI * 1.5) : Math.min(dpi, MAX_DPI);
  return Math.min(wanted / INCH, Math.sqrt(MAX_PAINTED / (width * height)));
}

/** The grey values of an image; for a mask, its coverage. */
function toLayer({ width, height, kind, data }: ImageData, shade: number | undefined): Layer | null {
  const stride = ((width + 7) >> 3) * height;
  if (shade !== undefined) {
    if (data.length < stride) return null;
    const opacity = grayFromBits({ width, height, data }, [255, 0]);
    return { width, height, pixels: new Uint8Array(width * height).fill(shade), opacity };
  }
  if (kind === 1)
    return data.length < stride ? null : { width, height, pixels: grayFromBits({ width, height, data }, [0, 255]) };
  const channels = kind === 2 ? 3 : kind === 3 ? 4 : Math.floor(data.length / (width * height));
  return channels < 1 || data.length < width * height * channels ? null : toGray({ width, height, data, channels });
}

/** Inverse of a transform; null if it has none. */
function invert(m: Matrix): Matrix | null {
  const d = m[0] * m[3] - m[1] * m[2];
  if (!(Math.abs(d) > 1e-12)) return null;
  const [a, b, c, e] = [m[3] / d, -m[1] / d, -m[2] / d, m[0] / d];
  return [a, b, c, e, -(a * m[4] + c * m[5]), -(b * m[4] + e * m[5])];
}

/** The interpolated value between four pixels. */
function sample(values: Uint8Array, width: number, height: number, x: number, y: number): number {
  const [left, top] = [Math.max(0, Math.min(width - 1, x)), Math.max(0, Math.min(height - 1, y))];
  const [x0, y0] = [Math.floor(left), Math.floor(top)];
  const [x1, y1] = [Math.min(width - 1, x0 + 1), Math.min(height - 1, y0 + 1)];
  const [fx, fy] = [left - x0, top - y0];
  const above = values[y0 * width + x0]! * (1 - fx) + values[y0 * width + x1]! * fx;
  const below = values[y1 * width + x0]! * (1 - fx) + values[y1 * width + x1]! * fx;
  return above * (1 - fy) + below * fy;
}

const withoutGrain = (layer: Layer): Layer => (layer.opacity ? layer : removeGrain(layer));

/** Paints a layer. `matrix` converts from its unit square, y up, to pixels of the canvas. */
function paint(canvas: GrayPicture, layer: Layer, matrix: Matrix): void {
  const factor = Math.floor(Math.sqrt((layer.width * layer.height) / Math.max(1, areaOf(matrix))));
  const { width, height, pixels, opacity } = withoutGrain(shrinkLayer(layer, factor));
  const inverse = invert(matrix);
  if (!inverse) return;
  const corners = [
    [0, 0],
    [0, 1],
    [1, 0],
    [1, 1],
  ].map(([x, y]) => transformPoint(matrix, x!, y!));
  const [xs, ys] = [corners.map(([x]) => x), corners.map(([, y]) => y)];
  const [fromX, toX] = [Math.max(0, Math.floor(Math.min(...xs))), Math.min(canvas.width, Math.ceil(Math.max(...xs)))];
  const [fromY, toY] = [Math.max(0, Math.floor(Math.min(...ys))), Math.min(canvas.height, Math.ceil(Math.max(...ys)))];
  for (let y = fromY; y < toY; y++) {
    for (let x = fromX; x < toX; x++) {
      const u = inverse[0] * (x + 0.5) + inverse[2] * (y + 0.5) + inverse[4];
      const v = 1 - (inverse[1] * (x + 0.5) + inverse[3] * (y + 0.5) + inverse[5]);
      if (u < 0 || u >= 1 || v < 0 || v >= 1) continue;
      const [px, py] = [u * width - 0.5, v * height - 0.5];
      const value = sample(pixels, width, height, px, py);
      const at = y * canvas.width + x;
      const cover = opacity ? sample(opacity, width, height, px, py) / 255 : 1;
      canvas.pixels[at] = canvas.pixels[at]! * (1 - cover) + value * cover;
    }
  }
}

/** A page as a picture of its images only, on white; null without images. `pixelsPerPoint`: its resolution. */
export function paintImages(
  images: readonly PlacedImage[],
  size: PageSize,
): { picture: GrayPicture; pixelsPerPoint: number } | null {
  const pixelsPerPoint = choosePixelsPerPoint(images, size);
  const [width, height] = [Math.ceil(size.width * pixelsPerPoint), Math.ceil(size.height * pixelsPerPoint)];
  if (!(width >= 1 && height >= 1 && width * height <= 2 * MAX_PAINTED)) return null;
  const picture: GrayPicture = { width, height, pixels: new Uint8Array(width * height).fill(255) };
  const scale: Matrix = [pixelsPerPoint, 0, 0, pixelsPerPoint, 0, 0];
  let painted = 0;
  for (const { image, matrix, shade } of images) {
    const layer = toLayer(image, shade);
    if (!layer) continue;
    paint(picture, layer, multiply(scale, matrix));
    painted += 1;
  }
  return painted === 0 ? null : { picture, pixelsPerPoint };
}
