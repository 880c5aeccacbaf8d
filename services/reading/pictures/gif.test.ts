import { expect, test } from "vitest";
import { UnreadableFile } from "../reader.ts";
import { readGif } from "./gif.ts";

/** 20 × 18 pixels in 16 shades, made by Pillow: row by row, and interlaced. */
const FILES = {
  straight:
    "R0lGODdhFAASAIMAAAAAABERESIiIjMzM0RERFVVVWZmZnd3d4iIiJmZmaqqqru7u8zMzN3d3e7u7v///ywAAAAAFAASAAAIfAABBBAwgEABAwcQJFCwgEEDBw8EEix4MOHChg8jDqRoAKFChg4hSuRo8WJIjQQNejR5cqRKiyAzoiT5EaPIgSkr1my50aBOkxld6twZtOdPhjZnviTq4GbOlTFvGoWa1OVSoE5Jwqw6FWZUpUcxFn26taVQqjwnXv16NiAAOw==",
  interlaced:
    "R0lGODdhFAASAIMAAAAAABERESIiIjMzM0RERFVVVWZmZnd3d4iIiJmZmaqqqru7u8zMzN3d3e7u7v///ywAAAAAFAASAEAIfQABBBAwgEABAwcQJFCwgEEDBw8EElTI0CFEiQUPJly4AKNBhBQbPow4cIBFkgQ/bqw4UmXIkx41guQIs6TLBCk1vhwZ86JNnTR5BmDpM+dMlhmPiiyaNCjTmxVRJl25FCVQolJdVo2p1OLPrkJTUq1pdGXYqTsvonWa9WBAADs=",
};
const SHADES = Array.from({ length: 360 }, (_, n) => (((n % 20) + Math.floor(n / 20) * 3) % 16) * 17);

test.each(Object.entries(FILES))("a %s GIF is decoded", (_, file) => {
  const { width, height, images } = readGif(Buffer.from(file, "base64"));
  expect([width, height]).toEqual([20, 18]);
  const shades = Array.from(images[0]!.data);
  expect(shades.map((shade, n) => Math.abs(shade - SHADES[n]!)).filter((distance) => distance > 1)).toEqual([]);
});

test("a truncated or modified GIF is decoded or refused", () => {
  const whole = Buffer.from(FILES.straight, "base64");
  for (let length = 0; length < whole.length; length += 7) {
    const changed = Buffer.from(whole);
    changed[length] = changed[length]! ^ 0x55;
    for (const bytes of [whole.subarray(0, length), changed]) {
      try {
        expect(readGif(bytes).images).toHaveLength(1);
      } catch (error) {
        expect(error).toBeInstanceOf(UnreadableFile);
      }
    }
  }
});
