import { expect, test } from "vitest";
import { limitDownloadMemory } from "./downloadMemory.ts";

const KIB = 1024;
const open = () => limitDownloadMemory({ total: 1_000 * KIB, perTenant: 600 * KIB });

test("a download counts its bytes above the first 256 KiB, until it has ended", () => {
  const openDownloadMemory = open();
  const [first, second] = [openDownloadMemory("a"), openDownloadMemory("a")];
  for (let n = 0; n < 8; n++) first.take(100 * KIB);
  expect(() => second.take(400 * KIB)).toThrow("hold too many bytes at once; try again later");
  first.release();
  first.release();
  openDownloadMemory("a").take(800 * KIB);
});

test("short downloads never count, and one organization leaves room for others", () => {
  const openDownloadMemory = open();
  openDownloadMemory("a").take(800 * KIB);
  for (let n = 0; n < 100; n++) openDownloadMemory("a").take(256 * KIB);
  openDownloadMemory("b").take(600 * KIB);
  expect(() => openDownloadMemory("c").take(500 * KIB)).toThrow("too many bytes");
});
