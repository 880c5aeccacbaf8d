import { UnreadableFile } from "../reader.ts";

/** Pixels of one picture: an A3 page at 400 dpi has 31 million. Decoding 40 million takes up to 500 MB. */
export const MAX_PIXELS = 40_000_000;

/** Throws UnreadableFile for a picture that would take too much memory, by the size that its header claims. */
export function checkPictureSize(width: number, height: number): void {
  if (!(width >= 1 && height >= 1)) throw new UnreadableFile(DAMAGED_PICTURE);
  if (width * height <= MAX_PIXELS) return;
  const [w, h] = [width.toLocaleString("en"), height.toLocaleString("en")];
  throw new UnreadableFile(`The picture has ${w} × ${h} pixels; at most ${MAX_PIXELS / 1e6} million can be read.`);
}

export const DAMAGED_PICTURE = "The picture is damaged, or made in a way that cannot be read.";
