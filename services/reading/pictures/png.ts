import { convertIndexedToRgb, decode } from "fast-png";
import { UnreadableFile } from "../reader.ts";
import { checkPictureSize, DAMAGED_PICTURE } from "./limits.ts";
import type { StoredPicture } from "./pictureFile.ts";
import { toStoredPicture } from "./toStoredPicture.ts";

const WIDTH_AT = 16;
const HEIGHT_AT = 20;

/** Throws UnreadableFile: damaged, too many pixels. */
export function checkPng(bytes: Buffer): void {
  if (bytes.length < HEIGHT_AT + 4) throw new UnreadableFile(DAMAGED_PICTURE);
  checkPictureSize(bytes.readUInt32BE(WIDTH_AT), bytes.readUInt32BE(HEIGHT_AT));
}

const grayPalette = (shades: number): [number, number, number][] =>
  Array.from({ length: shades }, (_, n) => {
    const shade = Math.round((255 * n) / (shades - 1));
    return [shade, shade, shade];
  });

/** A decoded PNG file. Throws UnreadableFile. */
export function readPng(bytes: Buffer): StoredPicture {
  checkPng(bytes);
  try {
    const decoded = decode(bytes);
    const { width, height, depth } = decoded;
    const palette = decoded.palette ?? (depth < 8 ? grayPalette(2 ** depth) : undefined);
    if (palette) {
      const data = convertIndexedToRgb({ ...decoded, palette });
      return toStoredPicture({ width, height, data, channels: palette[0]!.length });
    }
    const white = depth === 16 ? 65_535 : 255;
    return toStoredPicture({ width, height, data: decoded.data, channels: decoded.channels, white });
  } catch (error) {
    throw new UnreadableFile(DAMAGED_PICTURE, { cause: error });
  }
}
