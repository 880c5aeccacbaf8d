import { writeFileSync } from "node:fs";
import { deflateSync } from "node:zlib";
import { decode } from "fast-png";
import { chromium } from "playwright-core";

/* Photographs notice.html in each format of pictures (make.sh). */

/** A TIFF of one page in shades of grey, in strips of 100 rows that are packed as PNG packs them. */
function toTiff({
  width,
  height,
  data,
  channels,
}: {
  width: number;
  height: number;
  data: ArrayLike<number>;
  channels: number;
}): Buffer {
  const gray = Buffer.from(Array.from({ length: width * height }, (_, n) => data[n * channels]!));
  const strips = Array.from({ length: Math.ceil(height / 100) }, (_, n) =>
    deflateSync(gray.subarray(n * 100 * width, (n + 1) * 100 * width)),
  );
  const offsets: number[] = [];
  let end = 8;
  for (const strip of strips) {
    offsets.push(end);
    end += strip.length;
  }
  const lengths = strips.map((strip) => strip.length);
  const tags = [
    [256, 4, 1, width],
    [257, 4, 1, height],
    [258, 3, 1, 8],
    [259, 3, 1, 8],
    [262, 3, 1, 1],
    [273, 4, strips.length, end],
    [277, 3, 1, 1],
    [278, 4, 1, 100],
    [279, 4, strips.length, end + 4 * strips.length],
  ];
  const longs = Buffer.alloc(8 * strips.length);
  for (const [n, value] of [...offsets, ...lengths].entries()) longs.writeUInt32LE(value, 4 * n);
  const directory = Buffer.alloc(2 + 12 * tags.length + 4);
  directory.writeUInt16LE(tags.length, 0);
  for (const [n, [tag, type, count, value]] of tags.entries()) {
    directory.writeUInt16LE(tag!, 2 + 12 * n);
    directory.writeUInt16LE(type!, 4 + 12 * n);
    directory.writeUInt32LE(count!, 6 + 12 * n);
    directory.writeUInt32LE(value!, 10 + 12 * n);
  }
  const head = Buffer.from([0x49, 0x49, 42, 0, 0, 0, 0, 0]);
  head.writeUInt32LE(end + longs.length, 4);
  return Buffer.concat([head, ...strips, longs, directory]);
}

const browser = await chromium.launch({
  executablePath: process.env["CHROMIUM"] ?? "/usr/bin/chromium",
  chromiumSandbox: false,
});
const context = await browser.newContext({ viewport: { width: 620, height: 330 }, deviceScaleFactor: 2 });
const page = await context.newPage();
await page.goto(new URL("./notice.html", import.meta.url).href);
const folder = process.argv[2] ?? ".";
await page.screenshot({ path: `${folder}/notice.png` });
await page.screenshot({ path: `${folder}/notice.jpg`, quality: 60 });
const session = await context.newCDPSession(page);
const { data } = await session.send("Page.captureScreenshot", { format: "webp", quality: 60 });
writeFileSync(`${folder}/notice.webp`, Buffer.from(data, "base64"));
writeFileSync(`${folder}/notice.tiff`, toTiff(decode(await page.screenshot())));
await browser.close();
