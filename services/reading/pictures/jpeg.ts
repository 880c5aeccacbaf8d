import { UnreadableFile } from "../reader.ts";
import { checkPictureSize, DAMAGED_PICTURE, MAX_PIXELS } from "./limits.ts";
import type { StoredPicture } from "./pictureFile.ts";

const START_OF_IMAGE = 0xffd8;
const EXIF = 0xffe1;
const ADOBE = 0xffee;
const END_OF_HEADER = new Set([0xffd9, 0xffda]);
/** Frames with Huffman coding; the others have hardly any readers. */
const isFrame = (marker: number): boolean => marker >= 0xffc0 && marker <= 0xffc2;

interface Segment {
  marker: number;
  body: Buffer;
}

/** The segments before the image data. */
function* segmentsOf(bytes: Buffer): Generator<Segment> {
  if (bytes.length < 4 || bytes.readUInt16BE(0) !== START_OF_IMAGE) return;
  for (let at = 2; at + 4 <= bytes.length; ) {
    const marker = bytes.readUInt16BE(at);
    if (marker === 0xffff) {
      at += 1;
      continue;
    }
    if (marker < 0xff00 || END_OF_HEADER.has(marker)) return;
    const length = bytes.readUInt16BE(at + 2);
    yield { marker, body: bytes.subarray(at + 4, at + 2 + length) };
    at += 2 + length;
  }
}

const ORIENTATION = 0x0112;
/** Quarter turns clockwise for the orientations that cameras write. */
const TURNS: Record<number, number> = { 3: 2, 6: 1, 8: 3 };

/** Quarter turns clockwise that EXIF asks for. */
function turnsFromExif(body: Buffer): number {
  const tiff = body.subarray(6);
  if (!body.toString("latin1", 0, 4).startsWith("Exif") || tiff.length < 14) return 0;
  const isLittle = tiff[0] === 0x49;
  const u16 = (at: number): number => (isLittle ? tiff.readUInt16LE(at) : tiff.readUInt16BE(at));
  const directory = isLittle ? tiff.readUInt32LE(4) : tiff.readUInt32BE(4);
  if (directory + 2 > tiff.length) return 0;
  const count = u16(directory);
  for (let n = 0, at = directory + 2; n < count && at + 12 <= tiff.length; n++, at += 12)
    if (u16(at) === ORIENTATION) return TURNS[u16(at + 8)] ?? 0;
  return 0;
}

const COLORS: Record<number, string> = { 1: "/DeviceGray", 3: "/DeviceRGB", 4: "/DeviceCMYK" };

const START = Buffer.from("ffd8ff", "hex");

/** Whether a file holds a JPEG image whose own header claims more pixels than may be decoded. */
export function hasGiantJpeg(bytes: Buffer): boolean {
  for (let at = bytes.indexOf(START); at >= 0; at = bytes.indexOf(START, at + 3)) {
    for (const { marker, body } of segmentsOf(bytes.subarray(at)))
      if (isFrame(marker) && body.length >= 6 && body.readUInt16BE(1) * body.readUInt16BE(3) > MAX_PIXELS) return true;
  }
  return false;
}

/** Describes a JPEG file, which stays compressed. Throws UnreadableFile: damaged, too many pixels. */
export function readJpeg(bytes: Buffer): StoredPicture {
  let frame: { width: number; height: number; channels: number } | undefined;
  let [turns, isAdobe] = [0, false];
  for (const { marker, body } of segmentsOf(bytes)) {
    if (marker === EXIF) turns ||= turnsFromExif(body);
    if (marker === ADOBE) isAdobe = true;
    if (isFrame(marker) && body.length >= 6)
      frame ??= { height: body.readUInt16BE(1), width: body.readUInt16BE(3), channels: body[5]! };
  }
  const color = frame && COLORS[frame.channels];
  if (!frame || !color) throw new UnreadableFile(DAMAGED_PICTURE);
  const { width, height, channels } = frame;
  checkPictureSize(width, height);
  const inverted = channels === 4 && isAdobe ? "/Decode[1 0 1 0 1 0 1 0]" : "";
  const entries = `/ColorSpace${color}/BitsPerComponent 8/Filter/DCTDecode${inverted}`;
  return { width, height, turns, images: [{ width, height, x: 0, y: 0, entries, data: bytes }] };
}
