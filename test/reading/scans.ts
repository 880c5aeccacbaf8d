import { decode, encode } from "fast-png";
import { toGray } from "#services/reading/pictures/gray.ts";
import type { GrayPicture } from "#services/reading/pictures/recognizer.ts";
import { writePdf, objectsOf, show, stream } from "#services/reading/pdf/testing/build.ts";
import { realFile } from "../files/index.ts";

/* PDFs with scanned pages, made of test/files/notice.* */

interface Scan {
  width: number;
  height: number;
  data: Buffer;
  /** Quarter turns clockwise by which the page shows it. */
  turns?: number;
  /** Typed above it. */
  above?: string;
  /** The data are gray pixels; else a JPEG. */
  isRaw?: boolean;
}

export const notice: Scan = { width: 1_240, height: 660, data: realFile("notice.jpg") };

/** A picture of grass: dark strokes at random, which text recognition takes for letters. */
export function photograph(): Scan {
  const [width, height] = [300, 160];
  const data = Buffer.alloc(width * height, 200);
  let seed = 3;
  const random = (limit: number): number => (seed = (seed * 16_807) % 2_147_483_647) % limit;
  for (let stroke = 0; stroke < 400; stroke++) {
    const [x, y, slope] = [random(width), random(height - 16), random(3) - 1];
    for (let step = 0; step < 16; step++)
      data[(y + step) * width + Math.min(width - 1, x + ((slope * step) >> 1))] = 30;
  }
  return { width, height, data, isRaw: true };
}

export const pictureOf = (png: Buffer): GrayPicture => toGray(decode(png));

/** A picture as an old scanner gives it: askew, grainy, with specks of dust. */
export function wornPng(png: Buffer, degrees: number): Buffer {
  const { width, height, pixels } = pictureOf(png);
  const slope = Math.tan((degrees * Math.PI) / 180);
  let seed = 1;
  const random = (): number => (seed = (seed * 16_807) % 2_147_483_647) / 2_147_483_647;
  const data = Uint8Array.from({ length: width * height }, (_, n) => {
    const [x, y] = [n % width, Math.floor(n / width)];
    const [fromX, fromY] = [Math.round(x + (y - height / 2) * slope), Math.round(y - (x - width / 2) * slope)];
    const isInside = fromX >= 0 && fromX < width && fromY >= 0 && fromY < height;
    if (random() < 0.0005) return 0;
    const shade = isInside ? pixels[fromY * width + fromX]! : 255;
    return Math.max(0, Math.min(255, shade - 15 + (random() + random() + random() - 1.5) * 24));
  });
  return Buffer.from(encode({ width, height, data, channels: 1, depth: 8 }));
}

const TYPED = show(72, 700, 10, "The eel lives under the bridge and counts the boats.");

const typedAbove = ({ above }: Scan): string => (above === undefined ? "" : show(72, 750, 10, above));

/** A PDF with these pages; scans are JPEGs that fill most of their page. */
export function scanOf(pages: readonly ("typed" | "blank" | Scan)[]): Buffer<ArrayBuffer> {
  const contents = pages.map((page) =>
    page === "typed" ? TYPED : page === "blank" ? "" : `q 612 0 0 326 0 400 cm /P Do Q ${typedAbove(page)}`,
  );
  const objects = objectsOf(contents);
  const fonts = /\/Font.*(?=>>$)/.exec(String(objects[2]))![0];
  for (const [n, page] of pages.entries()) {
    if (typeof page === "string") continue;
    const { width, height, data, turns = 0, isRaw = false } = page;
    const coding = isRaw ? "/ColorSpace/DeviceGray" : "/ColorSpace/DeviceRGB/Filter/DCTDecode";
    const image = `/Type/XObject/Subtype/Image/Width ${width}/Height ${height}/BitsPerComponent 8${coding}`;
    const number = objects.push(stream(data, image));
    objects[3 + 2 * n] = String(objects[3 + 2 * n]).replace(
      "/Resources 3 0 R",
      `/Rotate ${90 * turns}/Resources<</XObject<</P ${number} 0 R>>${fonts}>>`,
    );
  }
  return writePdf(objects) as Buffer<ArrayBuffer>;
}
