import { expect, test } from "vitest";
import { removeGrain } from "./grain.ts";

/** Grey paper with a thin line and a dot; `grain`: how much its shade varies. */
const sheet = (grain: number) => {
  const [width, height] = [120, 90];
  const pixels = Uint8Array.from(
    { length: width * height },
    (_, n) => 230 + Math.round(grain * Math.sin(n * 12.9898 + n * n)),
  );
  for (let x = 10; x < 110; x++) pixels[40 * width + x] = 120;
  for (const at of [20 * width + 30, 20 * width + 31, 21 * width + 30, 21 * width + 31]) pixels[at] = 20;
  pixels[60 * width + 60] = 0;
  return { width, height, pixels };
};

test("paper grain and specks become white, and thin lines and dots keep their shades", () => {
  const { width, pixels } = removeGrain(sheet(8));
  expect(pixels[40 * width + 50]).toBe(120);
  expect(pixels[20 * width + 30]).toBe(20);
  expect(pixels[60 * width + 60]).toBe(255);
  expect(pixels.filter((shade) => shade < 255)).toHaveLength(104);
});

test("a clean picture is unchanged", () => {
  const clean = sheet(0);
  expect(removeGrain(clean)).toBe(clean);
});
