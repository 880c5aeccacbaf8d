import { UnreadableFile } from "../reader.ts";
import { checkPictureSize, DAMAGED_PICTURE } from "./limits.ts";
import type { StoredPicture } from "./pictureFile.ts";
import { type TiffDirectory, readTiffDirectories } from "./tiffDirectory.ts";

/* TIFF strips and tiles keep their compression: PDF has a filter for each that scanners use. */

const TAG = {
  width: 256,
  height: 257,
  bits: 258,
  compression: 259,
  photometric: 262,
  fillOrder: 266,
  stripOffsets: 273,
  orientation: 274,
  samples: 277,
  rowsPerStrip: 278,
  stripLengths: 279,
  planar: 284,
  faxOptions: 292,
  predictor: 317,
  colorMap: 320,
  tileWidth: 322,
  tileHeight: 323,
  tileOffsets: 324,
  tileLengths: 325,
  jpegTables: 347,
} as const;

const WHITE_IS_ZERO = 0;
const PALETTE = 3;
const COLORS: Record<number, string> = { 0: "/DeviceGray", 1: "/DeviceGray", 2: "/DeviceRGB", 5: "/DeviceCMYK" };
const COLORS_OF_JPEG: Record<number, string> = { ...COLORS, 6: "/DeviceRGB" };
const SAMPLES: Record<string, number> = { "/DeviceGray": 1, "/DeviceRGB": 3, "/DeviceCMYK": 4 };
const JPEG = 7;
const FAX = new Set([2, 3, 4]);
/** Pages of one file. */
const MAX_PAGES = 1_000;
const MAX_PARTS = 10_000;

const refuse = (): never => {
  throw new UnreadableFile(DAMAGED_PICTURE);
};

interface Format {
  width: number;
  height: number;
  bits: number;
  compression: number;
  photometric: number;
  entries(rows: number, columns: number): string;
}

const paletteOf = (directory: TiffDirectory, bits: number): string => {
  const map = directory.all(TAG.colorMap);
  const size = 2 ** bits;
  if (map.length < 3 * size) refuse();
  const colors = Array.from({ length: size }, (_, n) => [map[n]!, map[size + n]!, map[2 * size + n]!]).flat();
  return `[/Indexed/DeviceRGB ${size - 1}<${Buffer.from(colors.map((color) => color >> 8)).toString("hex")}>]`;
};

function faxFilter(directory: TiffDirectory, compression: number, { photometric }: Pick<Format, "photometric">) {
  const isTwoDimensional = (directory.one(TAG.faxOptions, 0) & 1) === 1;
  // PDF's K: negative for group 4, positive for group 3 with lines that depend on the line before
  const group3 = compression === 3 && isTwoDimensional ? 1 : 0;
  const k = compression === 4 ? -1 : group3;
  const aligned = compression === 2 ? "/EncodedByteAlign true" : "";
  const black = photometric === WHITE_IS_ZERO ? "" : "/BlackIs1 true";
  return (rows: number, columns: number): string =>
    `/Filter/CCITTFaxDecode/DecodeParms<</K ${k}/Columns ${columns}/Rows ${rows}/EndOfBlock false${aligned}${black}>>`;
}

/** The PDF filter of a compression; refuses one that PDF does not have. */
function filterOf(
  directory: TiffDirectory,
  compression: number,
  { photometric, bits, samples }: { photometric: number; bits: number; samples: number },
): Format["entries"] {
  const predictor = directory.one(TAG.predictor, 1) === 2;
  const parms = (columns: number): string =>
    predictor ? `/DecodeParms<</Predictor 2/Colors ${samples}/BitsPerComponent ${bits}/Columns ${columns}>>` : "";
  if (FAX.has(compression)) return faxFilter(directory, compression, { photometric });
  if (compression === 1) return () => "";
  if (compression === 5) return (_, columns) => `/Filter/LZWDecode${parms(columns)}`;
  if (compression === JPEG) return () => "/Filter/DCTDecode";
  if (compression === 8 || compression === 32_946) return (_, columns) => `/Filter/FlateDecode${parms(columns)}`;
  return compression === 32_773 ? () => "/Filter/RunLengthDecode" : refuse();
}

function formatOf(directory: TiffDirectory): Format {
  const [width, height] = [directory.one(TAG.width, 0), directory.one(TAG.height, 0)];
  checkPictureSize(width, height);
  const [bits, compression] = [directory.one(TAG.bits, 1), directory.one(TAG.compression, 1)];
  const photometric = directory.one(TAG.photometric, WHITE_IS_ZERO);
  const samples = directory.one(TAG.samples, 1);
  const colors = (compression === JPEG ? COLORS_OF_JPEG : COLORS)[photometric];
  const space = photometric === PALETTE ? paletteOf(directory, bits) : (colors ?? refuse());
  if (bits > 8 || directory.one(TAG.planar, 1) !== 1 || (colors ? SAMPLES[colors] : 1) !== samples) refuse();
  const filter = filterOf(directory, compression, { photometric, bits, samples });
  const inverted = photometric === WHITE_IS_ZERO && !FAX.has(compression) ? "/Decode[1 0]" : "";
  const described = `/ColorSpace${space}/BitsPerComponent ${bits}${inverted}`;
  return {
    width,
    height,
    bits,
    compression,
    photometric,
    entries: (rows, columns) => described + filter(rows, columns),
  };
}

const REVERSED = Uint8Array.from({ length: 256 }, (_, byte) => {
  let reversed = 0;
  for (let bit = 0; bit < 8; bit++) reversed |= ((byte >> bit) & 1) << (7 - bit);
  return reversed;
});

/** JPEG strips may share tables, which come before them. */
const withTables = (tables: readonly number[], data: Buffer): Buffer =>
  tables.length > 4 ? Buffer.concat([Buffer.from(tables.slice(0, -2)), data.subarray(2)]) : data;

const TURNS: Record<number, number> = { 3: 2, 6: 1, 8: 3 };

function readPage(bytes: Buffer, directory: TiffDirectory): StoredPicture {
  const { width, height, compression, entries } = formatOf(directory);
  const isTiled = directory.all(TAG.tileOffsets).length > 0;
  const offsets = directory.all(isTiled ? TAG.tileOffsets : TAG.stripOffsets);
  const lengths = directory.all(isTiled ? TAG.tileLengths : TAG.stripLengths);
  const w = isTiled ? directory.one(TAG.tileWidth, 0) : width;
  const h = isTiled ? directory.one(TAG.tileHeight, 0) : Math.min(height, directory.one(TAG.rowsPerStrip, height));
  if (!(w > 0 && h > 0) || offsets.length === 0 || offsets.length > MAX_PARTS) refuse();
  checkPictureSize(w, h);
  const across = Math.ceil(width / w);
  const tables = compression === JPEG ? directory.all(TAG.jpegTables) : [];
  const isReversed = directory.one(TAG.fillOrder, 1) === 2 && FAX.has(compression);
  const images = offsets.map((offset, n) => {
    const part = bytes.subarray(offset, offset + (lengths[n] ?? 0));
    const [x, y] = [(n % across) * w, Math.floor(n / across) * h];
    const rows = isTiled ? h : Math.min(h, height - y);
    const data = isReversed ? part.map((byte) => REVERSED[byte]!) : withTables(tables, part);
    return { width: w, height: Math.max(1, rows), x, y, entries: entries(rows, w), data };
  });
  return { width, height, turns: TURNS[directory.one(TAG.orientation, 1)] ?? 0, images };
}

/** The pages of a TIFF file as they are stored. Throws UnreadableFile: damaged, an odd format, too many pixels or pages. */
export function readTiff(bytes: Buffer): StoredPicture[] {
  const directories = readTiffDirectories(bytes, MAX_PAGES);
  if (directories.length === 0) refuse();
  if (directories.length > MAX_PAGES) throw new UnreadableFile(`The picture has more than ${MAX_PAGES} pages.`);
  return directories.map((directory) => readPage(bytes, directory));
}
