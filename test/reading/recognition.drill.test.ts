import { deflateSync } from "node:zlib";
import { afterAll, expect, test } from "vitest";
import { MEDIA_TYPES, typeFromFileName } from "#events/mediaTypes.ts";
import { openReader } from "#infra/readers/openReader.ts";
import { writePdf, objectsOf, stream } from "#services/reading/pdf/testing/build.ts";
import { UnreadableFile } from "#services/reading/reader.ts";
import { realFile } from "../files/index.ts";
import { notice, scanOf } from "./scans.ts";

/* Hostile pictures in the processes of text recognition: each costs at most its own file. */

const reader = openReader({ processes: 1, nice: 10 });
afterAll(() => reader.close());

const read = (bytes: Buffer, mime_type: string = MEDIA_TYPES.pdf) =>
  reader.read({ bytes, mime_type, recognize: 5, languages: ["eng"] }).catch((error: unknown) => error as Error);

const pageOf = (operators: string, image: Buffer): Buffer => {
  const objects = objectsOf([operators]);
  const number = objects.push(image);
  objects[3] = String(objects[3]).replace("/Resources 3 0 R", `/Resources<</XObject<</P ${number} 0 R>>>>`);
  return writePdf(objects);
};
const GRAY = "/Type/XObject/Subtype/Image/ColorSpace/DeviceGray/BitsPerComponent 8";

/** Packs 2 GB of zeros into 2 MB. */
const bomb = (): Buffer =>
  stream(deflateSync(Buffer.alloc(2_000_000_000)), `${GRAY}/Width 100/Height 100/Filter/FlateDecode`);
const DRAW = "q 500 0 0 500 50 50 cm /P Do Q";

test.each<[title: string, make: () => Buffer]>([
  ["whose image unpacks to 2 GB", () => pageOf(DRAW, bomb())],
  [
    "that shows an image 50,000 times",
    () =>
      pageOf(
        Array.from({ length: 50_000 }, (_, n) => `q 1 0 0 1 ${n % 600} ${(n * 7) % 700} cm /P Do Q`).join("\n"),
        stream(Buffer.alloc(1), `${GRAY}/Width 1/Height 1`),
      ),
  ],
  [
    "whose image is as flat as a line",
    () => pageOf("q 500 0 0 0 50 50 cm /P Do Q", stream("x", `${GRAY}/Width 1/Height 1`)),
  ],
  ["whose image is missing its data", () => pageOf(DRAW, stream("", `${GRAY}/Width 5000/Height 5000`))],
])("a PDF %s is read or refused, and the next scan is read", async (_title, make) => {
  const outcome = await read(make());
  if (outcome instanceof Error) expect(outcome).toBeInstanceOf(UnreadableFile);
  expect(await read(scanOf(["typed", notice]))).toMatchObject({
    warnings: [{ code: "read_from_picture", pages: [2] }],
  });
});

test.each(["notice.png", "notice.jpg", "notice.tiff", "notice.webp", "notice-fax.tiff", "notice.gif", "notice.heic"])(
  "%s is read or refused if it is truncated or modified",
  async (name) => {
    const original = realFile(name);
    let seed = name.length;
    for (let n = 0; n < 8; n++) {
      const bytes = Buffer.from(n % 2 === 0 ? original : original.subarray(0, original.length >> (n >> 1)));
      for (let change = 0; change < n; change++) {
        seed = (seed * 16_807) % 2_147_483_647;
        bytes[seed % Math.min(bytes.length, 2_000)] = seed % 256;
      }
      const outcome = await read(bytes, typeFromFileName(name));
      if (!(outcome instanceof Error)) continue;
      expect(outcome, `copy ${n}: ${outcome.stack}`).toBeInstanceOf(UnreadableFile);
      expect(outcome.message).toMatch(/^[A-Z].*\.$/);
    }
  },
);

test("each file is recognized in its languages, and each recognized page reports the progress", async () => {
  const bytes = scanOf(["typed", notice, "blank", notice]);
  const readIn = async (...languages: string[]) => {
    const reports: string[] = [];
    const file = { bytes, mime_type: MEDIA_TYPES.pdf, recognize: 5, languages };
    const found = await reader.read(file, "", ({ pages_read, pages_total }) =>
      reports.push(`${pages_read}/${pages_total}`),
    );
    return { reports, markdown: found.markdown.toString() };
  };
  const english = await readIn("eng");
  expect(english.reports).toEqual(["1/3", "3/3"]);
  expect(english.markdown).toContain("pilot boat");
  for (const languages of [["deu"], ["deu", "eng"], ["eng"]]) {
    const { reports, markdown } = await readIn(...languages);
    expect(reports).toEqual(["1/3", "3/3"]);
    if (languages.includes("eng")) expect(markdown).toContain("pilot boat");
  }
});
