import { UnreadableFile } from "../reader.ts";
import { checkPictureSize, DAMAGED_PICTURE } from "./limits.ts";
import type { StoredPicture } from "./pictureFile.ts";
import { toStoredPicture } from "./toStoredPicture.ts";

const HEADER = 13;
const COLOR_TABLE = 0x80;
const INTERLACED = 0x40;
const EXTENSION = 0x21;
const IMAGE = 0x2c;
const MAX_CODE_SIZE = 12;
/** Rows of an interlaced image come in four passes: the first of each, and the step to the next. */
const PASSES: [first: number, step: number][] = [
  [0, 8],
  [4, 8],
  [2, 4],
  [1, 2],
];

const colorTableSize = (flags: number): number => (flags & COLOR_TABLE ? 3 * 2 ** ((flags & 7) + 1) : 0);

/** The blocks of data from a place on, and where they end. */
function readBlocks(bytes: Buffer, from: number): { data: Buffer; end: number } {
  const blocks: Buffer[] = [];
  let at = from;
  for (let size = bytes[at] ?? 0; size > 0; size = bytes[at] ?? 0) {
    blocks.push(bytes.subarray(at + 1, at + 1 + size));
    at += size + 1;
  }
  return { data: Buffer.concat(blocks), end: at + 1 };
}

/** Decodes LZW with codes that grow, lowest bit first. What is cut off or beyond `length` is left out. */
function decodeLzw(data: Buffer, bits: number, length: number): Uint8Array {
  const [clear, end] = [1 << bits, (1 << bits) + 1];
  const out = new Uint8Array(length);
  // each code stands for an earlier code and one more value
  const [before, last, lengths] = [new Int16Array(4_096), new Uint8Array(4_096), new Uint16Array(4_096)];
  for (let code = 0; code < clear; code++) [before[code], last[code], lengths[code]] = [-1, code, 1];
  let [size, next, previous, written, buffer, held] = [bits + 1, end + 1, -1, 0, 0, 0];
  const firstOf = (code: number): number => {
    let at = code;
    while (before[at]! >= 0) at = before[at]!;
    return last[at]!;
  };
  for (const byte of data) {
    buffer |= byte << held;
    held += 8;
    while (held >= size) {
      const code = buffer & ((1 << size) - 1);
      buffer >>= size;
      held -= size;
      if (code === end || written >= length) return out;
      if (code === clear) {
        [size, next, previous] = [bits + 1, end + 1, -1];
        continue;
      }
      if (code > next || (code === next && previous < 0)) throw new UnreadableFile(DAMAGED_PICTURE);
      if (previous >= 0 && next < 4_096) {
        const value = firstOf(code === next ? previous : code);
        [before[next], last[next], lengths[next]] = [previous, value, lengths[previous]! + 1];
        next++;
        if (next === 1 << size && size < MAX_CODE_SIZE) size++;
      }
      written += lengths[code]!;
      for (let at = code, place = written - 1; at >= 0; at = before[at]!, place--) out[place] = last[at]!;
      previous = code;
    }
  }
  return out;
}

/** The rows of an interlaced image in their places. */
function deinterlace(values: Uint8Array, width: number, height: number): Uint8Array {
  const out = new Uint8Array(values.length);
  let from = 0;
  for (const [first, step] of PASSES) {
    for (let y = first; y < height; y += step) {
      out.set(values.subarray(from, from + width), y * width);
      from += width;
    }
  }
  return out;
}

/** Where the first image starts, after the extensions before it. */
function findImage(bytes: Buffer, from: number): number {
  let at = from;
  while (bytes[at] === EXTENSION) at = readBlocks(bytes, at + 2).end;
  if (bytes[at] !== IMAGE || at + 11 > bytes.length) throw new UnreadableFile(DAMAGED_PICTURE);
  return at;
}

interface Frame {
  width: number;
  height: number;
  flags: number;
  /** The position of its own colour table, or else of its data. */
  at: number;
}

function readFrame(bytes: Buffer): Frame & { colors: Buffer } {
  if (!/^GIF8[79]a/.test(bytes.toString("latin1", 0, 6)) || bytes.length < HEADER)
    throw new UnreadableFile(DAMAGED_PICTURE);
  const shared = colorTableSize(bytes[10]!);
  const image = findImage(bytes, HEADER + shared);
  const [width, height, flags] = [bytes.readUInt16LE(image + 5), bytes.readUInt16LE(image + 7), bytes[image + 9]!];
  checkPictureSize(width, height);
  const own = colorTableSize(flags);
  const from = own > 0 ? image + 10 : HEADER;
  return { width, height, flags, at: image + 10 + own, colors: bytes.subarray(from, from + (own || shared)) };
}

/** Throws UnreadableFile: damaged, too many pixels. */
export const checkGif = (bytes: Buffer): void => void readFrame(bytes);

/** The first image of a GIF file; the others of an animation are moments of the same. Throws UnreadableFile. */
export function readGif(bytes: Buffer): StoredPicture {
  const { width, height, flags, at, colors } = readFrame(bytes);
  const bits = bytes[at] ?? 0;
  if (bits < 1 || bits > 8 || colors.length === 0) throw new UnreadableFile(DAMAGED_PICTURE);
  const values = decodeLzw(readBlocks(bytes, at + 1).data, bits, width * height);
  const placed = flags & INTERLACED ? deinterlace(values, width, height) : values;
  const data = new Uint8Array(width * height * 3);
  for (const [n, value] of placed.entries())
    for (let part = 0; part < 3; part++) data[3 * n + part] = colors[3 * value + part] ?? 0;
  return toStoredPicture({ width, height, data, channels: 3 });
}
