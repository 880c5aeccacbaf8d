import { describe, expect, test } from "vitest";
import type { ReadingWarning } from "#events/readingWarnings.ts";
import { writePdf, line, objectsOf, show, stream } from "./testing/build.ts";
import { readWithWarnings } from "./testing/readWithWarnings.ts";

/* Layers that people can switch on and off. */

const inLayer = (name: string, content: string): string => `/OC /${name} BDC ${content} EMC`;

/** A font with the letters a to z, whose shapes are drawn by operators. */
const drawnFont = (shape: number): string => {
  const letters = Array.from({ length: 26 }, (_, at) => String.fromCharCode(97 + at));
  const shapes = letters.map((letter) => `/${letter} ${shape} 0 R`).join("");
  const names = `/Encoding<</Differences[97${letters.map((letter) => `/${letter}`).join("")}]>>`;
  const widths = `/FirstChar 97/LastChar 122/Widths[${letters.map(() => 500).join(" ")}]`;
  return `<</Type/Font/Subtype/Type3/FontBBox[0 0 500 700]/FontMatrix[.001 0 0 .001 0 0]/CharProcs<<${shapes}>>${names}${widths}>>`;
};

/**
 * A file whose layer `Off` is switched off, and `On` is not; `form` is drawn by `/Form Do`, in the layer `Off`. The font `mono` is drawn
 * if the file has `drawn` letters.
 */
const withLayers = (page: string, form = "", drawn = false): Buffer => {
  const objects = objectsOf([page]);
  const first = objects.length + 1;
  const groups = ["Off", "On"].map((name) => `<</Type/OCG/Name(${name})>>`);
  objects[0] = `<</Type/Catalog/Pages 2 0 R/OCProperties<</OCGs[${first} 0 R ${first + 1} 0 R]/D<</OFF[${first} 0 R]>>>>>>`;
  const named = `/Properties<</Off ${first} 0 R/On ${first + 1} 0 R>>/XObject<</Form ${first + 2} 0 R>>`;
  objects[2] = String(objects[2]).replace(/>>$/, `${named}>>`);
  if (drawn) objects[2] = String(objects[2]).replace(/\/mono<<.*?>>/, `/mono ${first + 4} 0 R`);
  const shape = stream("500 0 0 0 500 700 d1 0 0 400 700 re f");
  const drawing = `/Type/XObject/Subtype/Form/BBox[0 0 612 792]/Resources 3 0 R/OC ${first} 0 R`;
  return writePdf([...objects, ...groups, stream(Buffer.from(form), drawing), shape, drawnFont(first + 3)]);
};

const SHOWN = show(72, 700, 12, "The harbour office is open on Monday.");
const leftOut: ReadingWarning = { code: "hidden_text_left_out", pages: [1] };

describe("text in a layer", () => {
  test("is read if the layer is switched on", async () => {
    const found = await readWithWarnings(withLayers(inLayer("On", SHOWN)));
    expect(found).toEqual({ text: "The harbour office is open on Monday.", warnings: [] });
  });

  test.each([
    ["", inLayer("Off", show(72, 650, 12, "An earlier draft"))],
    [", within another that is on", inLayer("Off", inLayer("On", show(72, 650, 12, "An earlier draft")))],
  ])("that is switched off%s is reported", async (_, hidden) => {
    const after = show(72, 600, 12, "Ring twice.");
    const found = await readWithWarnings(withLayers(`${SHOWN} ${hidden} ${after}`));
    expect(found).toEqual({ text: "The harbour office is open on Monday.\n\nRing twice.", warnings: [leftOut] });
  });

  test("that is switched off and drawn by a form is reported", async () => {
    const found = await readWithWarnings(withLayers(`${SHOWN} /Form Do`, show(72, 650, 12, "An earlier draft")));
    expect(found).toEqual({ text: "The harbour office is open on Monday.", warnings: [leftOut] });
  });

  test("does not move the visible text that follows it on the line", async () => {
    const hidden = `BT /body 12 Tf 72 700 Td ${inLayer("Off", "(Draft: ) Tj")} (Final words of the letter) Tj ET`;
    expect((await readWithWarnings(withLayers(hidden))).text).toBe("Final words of the letter");
  });

  test("that is switched off is reported beside drawn letters, even at the place of visible text", async () => {
    const drawn = (y: number, text: string): string => show(72, y, 12, text, "mono");
    const hidden = inLayer("Off", `${drawn(700, "earlier words")} ${drawn(680, "more of them")}`);
    const shown = `${drawn(700, "final words")} ${inLayer("On", drawn(600, "earlier still"))}`;
    const found = await readWithWarnings(
      withLayers(`${drawn(720, "begin")} ${hidden} ${shown} /Form Do`, drawn(650, "form"), true),
    );
    expect(found.text.split(/\s+/)).toEqual(["begin", "final", "words", "earlier", "still"]);
    expect(found.warnings).toEqual([leftOut]);
  });

  test("that is switched off is reported on a page whose drawing is too large to keep", async () => {
    const hidden = inLayer("Off", show(72, 650, 12, "An earlier draft"));
    const found = await readWithWarnings(withLayers(`${SHOWN} ${hidden} ${" ".repeat(8_100_000)}`));
    expect(found).toEqual({ text: "The harbour office is open on Monday.", warnings: [leftOut] });
  });

  test("is left out even if the page has no other text", async () => {
    await expect(readWithWarnings(withLayers(inLayer("Off", SHOWN)))).rejects.toThrow("no text");
  });
});

test("drawn lines in a layer that is switched off form no table", async () => {
  const words = ["Bread", "Milk", "Salt", "Tea"].map((word, at) =>
    show(80 + 100 * (at % 2), 690 - 30 * (at >> 1), 12, word),
  );
  const grid = [710, 680, 650].map((y) => line(72, y, 272, y)).concat([72, 172, 272].map((x) => line(x, 650, x, 710)));
  const page = (name: string): Buffer => withLayers(`${words.join(" ")} ${inLayer(name, grid.join(" "))}`);
  expect((await readWithWarnings(page("On"))).text).toContain("| Bread | Milk |");
  expect((await readWithWarnings(page("Off"))).text).not.toContain("|");
});
