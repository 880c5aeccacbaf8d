import { deflateSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { MEDIA_TYPES } from "#events/mediaTypes.ts";
import { readFile } from "../read.ts";
import { ScannedFile, UnreadableFile } from "../reader.ts";

const u32 = (...numbers: number[]): Buffer =>
  Buffer.concat(numbers.map((n) => Buffer.from(new Uint32Array([n]).buffer).swap32()));

const png = (width: number, height: number, data = Buffer.alloc(0)): Buffer =>
  Buffer.concat([
    Buffer.from("89504e470d0a1a0a", "hex"),
    u32(13),
    Buffer.from("IHDR"),
    u32(width, height),
    Buffer.from([8, 0, 0, 0, 0]),
    u32(0, data.length),
    Buffer.from("IDAT"),
    data,
    u32(0, 0),
    Buffer.from("IEND"),
    u32(0),
  ]);
const jpeg = (width: number, height: number): Buffer => {
  const frame = Buffer.from("ffd8ffc0001108000000000301220002110103110100", "hex");
  frame.writeUInt16BE(height, 7);
  frame.writeUInt16BE(width, 9);
  return Buffer.concat([frame, Buffer.from("ffda0008010100003f00", "hex")]);
};
/** Entries: tag and value, as numbers of 4 bytes. */
const tiff = (entries: [number, number][], next = 0): Buffer => {
  const head = Buffer.from("49492a0008000000", "hex");
  const directory = Buffer.alloc(2 + 12 * entries.length + 4);
  directory.writeUInt16LE(entries.length);
  for (const [n, [tag, value]] of entries.entries()) {
    directory.writeUInt16LE(tag, 2 + 12 * n);
    directory.writeUInt16LE(4, 4 + 12 * n);
    directory.writeUInt32LE(1, 6 + 12 * n);
    directory.writeUInt32LE(value, 10 + 12 * n);
  }
  directory.writeUInt32LE(next, directory.length - 4);
  return Buffer.concat([head, directory]);
};
const webp = (width: number, height: number): Buffer => {
  const bytes = Buffer.alloc(40);
  bytes.write("RIFF\x20\0\0\0WEBPVP8X", 0, "latin1");
  bytes.writeUIntLE(width - 1, 24, 3);
  bytes.writeUIntLE(height - 1, 27, 3);
  return bytes;
};

const gif = (width: number, height: number): Buffer => {
  const bytes = Buffer.from("474946383961010001000000002c000000000000000000", "hex");
  bytes.writeUInt16LE(width, 18);
  bytes.writeUInt16LE(height, 20);
  return Buffer.concat([bytes, Buffer.alloc(20)]);
};
const heic = (width: number, height: number): Buffer =>
  Buffer.concat([
    Buffer.from("0000001866747970686569630000000068656963", "hex"),
    Buffer.from("\0\0\0\x14ispe"),
    u32(0, width, height),
  ]);

/** Refusals must come before anything is decoded. */
const recognizer = { recognize: () => Promise.reject(new Error("nothing may be recognized")) };
const refusal = (type: string, bytes: Buffer, recognize?: number) =>
  readFile({ bytes, mime_type: type, ...(recognize && { recognize }) }, recognizer).then(
    () => undefined,
    (error: unknown) => error as Error,
  );

describe("a picture is refused by its header, with and without text recognition,", () => {
  test.each([
    ["PNG", MEDIA_TYPES.png, png(90_000, 90_000, deflateSync(Buffer.alloc(1_000)))],
    ["JPEG", MEDIA_TYPES.jpg, jpeg(65_000, 65_000)],
    [
      "TIFF",
      MEDIA_TYPES.tiff,
      tiff([
        [256, 100_000],
        [257, 100_000],
      ]),
    ],
    ["WebP", MEDIA_TYPES.webp, webp(16_000, 16_000)],
    ["GIF", MEDIA_TYPES.gif, gif(60_000, 60_000)],
    ["HEIC", MEDIA_TYPES.heic, heic(100_000, 100_000)],
  ])("if it is a %s of giant dimensions", async (_name, type, bytes) => {
    for (const recognize of [0, 5]) {
      const error = await refusal(type, bytes, recognize);
      expect(error).toBeInstanceOf(UnreadableFile);
      expect(error!.message).toMatch(/^The picture has [\d,]+ × [\d,]+ pixels; at most 40 million can be read\.$/);
    }
  });

  test.each([
    ["a PNG without dimensions", MEDIA_TYPES.png, png(0, 7)],
    ["the beginning of a PNG", MEDIA_TYPES.png, png(9, 9).subarray(0, 20)],
    ["a JPEG without a frame", MEDIA_TYPES.jpg, Buffer.from("ffd8ffd9", "hex")],
    ["a JPEG segment that reaches beyond the end", MEDIA_TYPES.jpg, Buffer.from("ffd8ffe1ffff4578", "hex")],
    ["a TIFF whose pages follow each other in a circle", MEDIA_TYPES.tiff, tiff([[256, 0]], 8)],
    [
      "a TIFF without strips",
      MEDIA_TYPES.tiff,
      tiff([
        [256, 9],
        [257, 9],
      ]),
    ],
    [
      "a TIFF of an odd compression",
      MEDIA_TYPES.tiff,
      tiff([
        [256, 9],
        [257, 9],
        [259, 99],
        [273, 8],
        [279, 8],
      ]),
    ],
    ["a WebP of an unknown kind", MEDIA_TYPES.webp, Buffer.from("RIFF    WEBPVP9X")],
    ["a GIF of no height", MEDIA_TYPES.gif, gif(9, 0)],
    ["a HEIC without a size", MEDIA_TYPES.heic, Buffer.from("0000001866747970686569630000000068656963", "hex")],
    ["another file", MEDIA_TYPES.tiff, Buffer.from("%PDF-1.7 and so on")],
  ])("if it is %s", async (_name, type, bytes) => {
    const error = await refusal(type, bytes);
    expect(error).toBeInstanceOf(UnreadableFile);
    expect(error).not.toBeInstanceOf(ScannedFile);
    expect(error!.message).toMatch(/^The picture is damaged/);
  });
});

test("without text recognition a picture reports how many pages could be recognized", async () => {
  expect(await refusal(MEDIA_TYPES.jpg, jpeg(800, 600))).toMatchObject({ name: "ScannedFile", pages: 1 });
});
