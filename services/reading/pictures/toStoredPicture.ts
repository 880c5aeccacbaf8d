import { type RawPixels, toGray } from "./gray.ts";
import type { StoredPicture } from "./pictureFile.ts";

/** A decoded picture in shades of grey, on white. */
export function toStoredPicture(raw: RawPixels): StoredPicture {
  const { width, height, pixels, opacity } = toGray(raw);
  if (opacity) for (let i = 0; i < pixels.length; i++) pixels[i] = 255 + ((pixels[i]! - 255) * opacity[i]!) / 255;
  const entries = "/ColorSpace/DeviceGray/BitsPerComponent 8";
  return { width, height, images: [{ width, height, x: 0, y: 0, entries, data: pixels }] };
}
