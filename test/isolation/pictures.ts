import { crc32, deflateSync } from "node:zlib";

/* Pictures whose headers promise far more than their bytes hold. */

const bytesOf = (...numbers: number[]): Buffer => Buffer.concat(numbers.map((value) => uint32(value)));
function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

function pngChunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type), data]);
  return Buffer.concat([uint32(data.length), body, uint32(crc32(body))]);
}

/** A complete PNG of one bit per pixel, all of them black: 110 KB for 900 million pixels of side 30,000. */
export function hugePng(side: number): Uint8Array<ArrayBuffer> {
  const header = Buffer.concat([bytesOf(side, side), Buffer.from([1, 0, 0, 0, 0])]);
  const rows = deflateSync(Buffer.alloc(side * (Math.ceil(side / 8) + 1)));
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const chunks = [pngChunk("IHDR", header), pngChunk("IDAT", rows), pngChunk("IEND", Buffer.alloc(0))];
  return new Uint8Array(Buffer.concat([signature, ...chunks]));
}

const TAGS = 8;
const FRAME_BYTES = 2 + TAGS * 12 + 4;

/** A TIFF of many frames of one pixel each. */
export function manyFrames(count: number): Uint8Array<ArrayBuffer> {
  const start = 8;
  const bytes = Buffer.alloc(start + count * FRAME_BYTES + 1);
  bytes.write("II");
  bytes.writeUInt16LE(42, 2);
  bytes.writeUInt32LE(start, 4);
  for (let n = 0; n < count; n++) {
    const at = start + n * FRAME_BYTES;
    bytes.writeUInt16LE(TAGS, at);
    // width, height, bits, no compression, black is zero, place, rows, bytes
    const entries = [
      [256, 1],
      [257, 1],
      [258, 8],
      [259, 1],
      [262, 1],
      [273, bytes.length - 1],
      [278, 1],
      [279, 1],
    ] as const;
    for (const [index, [tag, value]] of entries.entries()) {
      const entry = at + 2 + index * 12;
      bytes.writeUInt16LE(tag, entry);
      bytes.writeUInt16LE(4, entry + 2);
      bytes.writeUInt32LE(1, entry + 4);
      bytes.writeUInt32LE(value, entry + 8);
    }
    bytes.writeUInt32LE(n === count - 1 ? 0 : at + FRAME_BYTES, at + FRAME_BYTES - 4);
  }
  return new Uint8Array(bytes);
}

/** A WebP whose header says 16,384 by 16,384 pixels and 4 GB, and which ends there. */
export function falseWebp(): Uint8Array<ArrayBuffer> {
  const size = Buffer.from([0xff, 0x3f, 0x00]);
  const canvas = Buffer.concat([Buffer.from([10, 0, 0, 0, 0, 0, 0, 0]), size, size]);
  const bytes = [Buffer.from("RIFF"), Buffer.from([0xff, 0xff, 0xff, 0xff]), Buffer.from("WEBPVP8X"), canvas];
  return new Uint8Array(Buffer.concat(bytes));
}
