import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import decode, { init } from "@jsquash/webp/decode.js";
import { UnreadableFile } from "../reader.ts";
import { checkPictureSize, DAMAGED_PICTURE } from "./limits.ts";
import type { StoredPicture } from "./pictureFile.ts";
import { toStoredPicture } from "./toStoredPicture.ts";

// TypeScript declares WebAssembly for browsers only
const { Module } = Reflect.get(globalThis, "WebAssembly") as { Module: new (bytes: Uint8Array) => object };

const MAX_SIDE = 0x3fff;

/** Width and height by the header: of a canvas, a lossless or a lossy picture. */
function sizeOf(bytes: Buffer): { width: number; height: number } {
  const kind = bytes.length < 30 ? "" : bytes.toString("latin1", 12, 16);
  if (kind === "VP8X") return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 };
  if (kind === "VP8 ") return { width: bytes.readUInt16LE(26) & MAX_SIDE, height: bytes.readUInt16LE(28) & MAX_SIDE };
  if (kind !== "VP8L") throw new UnreadableFile(DAMAGED_PICTURE);
  const bits = bytes.readUInt32LE(21);
  return { width: (bits & MAX_SIDE) + 1, height: ((bits >>> 14) & MAX_SIDE) + 1 };
}

/** Throws UnreadableFile: damaged, too many pixels. */
export function checkWebp(bytes: Buffer): void {
  const { width, height } = sizeOf(bytes);
  checkPictureSize(width, height);
}

/** The decoder makes an ImageData, which browsers have. */
class DecodedImage {
  readonly data: Uint8ClampedArray;
  readonly width: number;
  readonly height: number;
  constructor(data: Uint8ClampedArray, width: number, height: number) {
    [this.data, this.width, this.height] = [data, width, height];
  }
}

/** A decoded WebP file. Throws UnreadableFile. */
export async function readWebp(bytes: Buffer): Promise<StoredPicture> {
  checkWebp(bytes);
  try {
    Object.assign(globalThis, { ImageData: DecodedImage });
    const program = createRequire(import.meta.url).resolve("@jsquash/webp/codec/dec/webp_dec.wasm");
    await init(new Module(readFileSync(program)));
    const { width, height, data } = await decode(Uint8Array.from(bytes).buffer);
    checkPictureSize(width, height);
    return toStoredPicture({ width, height, data, channels: 4 });
  } catch (error) {
    if (error instanceof UnreadableFile) throw error;
    throw new UnreadableFile(DAMAGED_PICTURE, { cause: error });
  }
}
