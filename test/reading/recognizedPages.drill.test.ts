import { afterAll, describe, expect, test } from "vitest";
import { MEDIA_TYPES } from "#events/mediaTypes.ts";
import { createRecognizer } from "#infra/readers/recognition/createRecognizer.ts";
import { rotateRight } from "#infra/readers/recognition/rotate.ts";
import { RecognitionFailed } from "#services/reading/pictures/recognizer.ts";
import { readFile } from "#services/reading/read.ts";
import { realFile } from "../files/index.ts";
import { notice, photograph, pictureOf, scanOf, wornPng } from "./scans.ts";

/* Text recognition as a reading process does it, without the process. */

const recognizer = createRecognizer({ languages: ["eng", "deu"] });
afterAll(recognizer.close);

const read = (bytes: Buffer, recognize: number) =>
  readFile({ bytes, mime_type: MEDIA_TYPES.pdf, recognize }, recognizer);

const NOTICE = /The pilot boat leaves the north quay at noon[^]*\| Trawler \| 120.50 \| May 2 \|/;

describe("a PDF", () => {
  test("of typed, scanned and blank pages gets its text from both, in order, with the confidence of each", async () => {
    const { markdown, page_count, warnings } = await read(
      scanOf(["typed", notice, "blank", { ...notice, turns: 1 }]),
      9,
    );
    expect(page_count).toBe(4);
    expect(markdown).toMatch(/^The eel lives under the bridge[^]*pilot boat[^]*pilot boat/);
    expect(markdown).toMatch(NOTICE);
    const found = warnings.find(({ code }) => code === "read_from_picture");
    expect(found).toMatchObject({ pages: [2, 4], confidence: [expect.any(Number), expect.any(Number)] });
    for (const percent of found!.confidence!) expect(percent).toBeGreaterThan(80);
    expect(warnings.filter(({ code }) => code !== "read_from_picture")).toEqual([
      { code: "page_without_text", pages: [3] },
    ]);
  });

  test("whose pictures are truncated or missing loses only these pages", async () => {
    const cut = { ...notice, data: notice.data.subarray(0, 300) };
    const { markdown, warnings } = await read(scanOf(["typed", cut, notice]), 9);
    expect(markdown).toMatch(NOTICE);
    expect(warnings).toContainEqual(expect.objectContaining({ code: "read_from_picture", pages: [3] }));
    const named = warnings.filter(({ code }) => code !== "read_from_picture").flatMap(({ pages = [] }) => pages);
    expect(named).toEqual([2]);
  });

  test("with more scans than may be recognized reports the rest", async () => {
    const { warnings } = await read(scanOf(["typed", notice, notice, notice]), 1);
    expect(warnings).toContainEqual({ code: "recognition_limit_reached", pages: [3, 4] });
  });

  test("whose JPEG claims giant dimensions is not decoded", async () => {
    const giant = Buffer.from(notice.data);
    const frame = giant.indexOf(Buffer.from("ffc0", "hex"));
    giant.writeUInt32BE(0xfff0_fff0, frame + 5);
    const { warnings } = await read(scanOf(["typed", { ...notice, data: giant }]), 9);
    expect(warnings).toEqual([{ code: "picture_unreadable", pages: [2] }]);
  });
});

describe("a page with text", () => {
  const above = "The notice of the harbour is below.";

  test("gets the text of its picture after its own, and the picture's large letters are no heading", async () => {
    const { markdown, warnings, recognized } = await read(scanOf([{ ...notice, above }, "typed"]), 9);
    expect(markdown).toMatch(
      /^The notice of the harbour is below\.\n\n[^#]*pilot boat[^]*\| Trawler \| 120.50 \| May 2 \|[^#]*\n\nThe eel/,
    );
    expect(warnings).toEqual([{ code: "read_from_picture", pages: [1], confidence: [expect.any(Number)] }]);
    expect(recognized).toBe(1);
  });

  test("that lies on its side gets the text of its picture, too", async () => {
    const { markdown } = await read(scanOf([{ ...notice, above, turns: 1 }]), 9);
    expect(markdown).toMatch(NOTICE);
  });

  test("comes after the pages without text, and is reported if no more pages may be recognized", async () => {
    const file = scanOf([{ ...notice, above }, notice]);
    expect((await read(file, 1)).warnings).toEqual([
      { code: "read_from_picture", pages: [2], confidence: [expect.any(Number)] },
      { code: "images_without_text", pages: [1] },
    ]);
  });

  test("excludes the doubtful words of a photograph, is reported, and counts as recognized", async () => {
    const { markdown, warnings, recognized } = await read(scanOf([{ ...photograph(), above }]), 9);
    expect(markdown).toBe(above);
    expect(warnings.every(({ code }) => code === "images_without_text")).toBe(true);
    expect(recognized).toBe(1);
  });
});

describe("a picture", () => {
  const picture = () => pictureOf(realFile("notice.png"));

  test.each([1, 2, 3])("turned by %i × 90° is read upright", async (turns) => {
    let turned = picture();
    for (let n = 0; n < turns; n++) turned = rotateRight(turned);
    const { confidence, paragraphs, width, height, drawn } = await recognizer.recognize(turned);
    expect(confidence).toBeGreaterThan(80);
    // the borders of its table
    expect([drawn.across.length, drawn.down.length]).toEqual([4, 4]);
    expect([width, height]).toEqual([picture().width, picture().height]);
    expect(paragraphs.flat().flatMap(({ words }) => words.map(({ text }) => text))).toContain("Trawler");
  });

  test("that is noise gets a low confidence, and a failed picture does not affect others", async () => {
    let seed = 7;
    const noise = { width: 150, height: 60, pixels: new Uint8Array(9_000) };
    for (const at of noise.pixels.keys()) {
      seed = (seed * 16_807) % 2_147_483_647;
      noise.pixels[at] = seed % 256;
    }
    const broken = { width: 100_000, height: 2, pixels: new Uint8Array(10) };
    const outcomes = [await recognizer.recognize(picture())];
    for (const _ of [1, 2]) {
      await expect(recognizer.recognize({ ...broken, pixels: new Uint8Array(10) })).rejects.toThrow(RecognitionFailed);
      outcomes.push(await recognizer.recognize(picture()));
    }
    for (const { confidence } of outcomes) expect(confidence).toBeGreaterThan(80);
    expect((await recognizer.recognize(noise)).confidence).toBeLessThan(60);
  });

  test("that takes too long fails, and the next one is read", async () => {
    const hurried = createRecognizer({ languages: ["eng"], deadline_ms: 1 });
    await expect(hurried.recognize(picture())).rejects.toThrow("Recognizing the text took too long.");
    await hurried.close();
  });
});

test.each([-2.5, 1.5])("a grainy scan that is %d° askew is read with its table", async (degrees) => {
  const bytes = wornPng(realFile("notice.png"), degrees);
  const { markdown, warnings } = await readFile({ bytes, mime_type: MEDIA_TYPES.png, recognize: 1 }, recognizer);
  expect(markdown).toMatch(NOTICE);
  expect(warnings).toEqual([{ code: "read_from_picture", pages: [1], confidence: [expect.any(Number)] }]);
});
