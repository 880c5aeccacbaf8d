import type { HeifImage } from "libheif-js/wasm-bundle.js";
import { UnreadableFile } from "../reader.ts";
import { checkPictureSize, DAMAGED_PICTURE } from "./limits.ts";
import type { StoredPicture } from "./pictureFile.ts";
import { toStoredPicture } from "./toStoredPicture.ts";

/** The property with the size of an image, or of one of its tiles. */
const SIZE = Buffer.from("ispe");

/** Throws UnreadableFile: damaged, too many pixels. */
export function checkHeic(bytes: Buffer): void {
  let found = false;
  for (let at = bytes.indexOf(SIZE); at >= 0 && at + 16 <= bytes.length; at = bytes.indexOf(SIZE, at + 4)) {
    checkPictureSize(bytes.readUInt32BE(at + 8), bytes.readUInt32BE(at + 12));
    found = true;
  }
  if (!found) throw new UnreadableFile(DAMAGED_PICTURE);
}

const show = (image: HeifImage, width: number, height: number): Promise<Uint8ClampedArray> =>
  new Promise((resolve, reject) => {
    const data = new Uint8ClampedArray(width * height * 4);
    image.display({ data, width, height }, (shown) => (shown ? resolve(data) : reject(new Error("not decoded"))));
  });

/** The first image of a HEIC file, upright. Throws UnreadableFile. */
export async function readHeic(bytes: Buffer): Promise<StoredPicture> {
  checkHeic(bytes);
  try {
    const { default: heif } = await import("libheif-js/wasm-bundle.js");
    const [image, ...others] = new heif.HeifDecoder().decode(bytes);
    for (const other of others) other.free();
    const [width, height] = [image!.get_width(), image!.get_height()];
    checkPictureSize(width, height);
    const data = await show(image!, width, height).finally(() => image!.free());
    return toStoredPicture({ width, height, data, channels: 4 });
  } catch (error) {
    if (error instanceof UnreadableFile) throw error;
    throw new UnreadableFile(DAMAGED_PICTURE, { cause: error });
  }
}
