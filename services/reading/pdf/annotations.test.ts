import { describe, expect, test } from "vitest";
import { AnnotationBudget } from "./annotationLimits.ts";
import { FontStyles } from "./fontStyles.ts";
import { openPdf } from "./openPdf.ts";
import { readPage } from "./readPage.ts";
import { writePdf, objectsOf, show, stream } from "./testing/build.ts";
import { readWithWarnings } from "./testing/readWithWarnings.ts";

/* Form fields whose text is only in their drawing. */

/** A page with these annotations, `times` over; each is a field and its drawing, at a place of its own. */
const pageWith = (fields: [field: string, drawing: string][], times = 1): Buffer => {
  const objects = objectsOf([show(72, 700, 12, "The undersigned agree to the terms of this contract.")]);
  const first = objects.length + 1;
  const annotations = fields.map((_, index) => `${first + 2 * index} 0 R `.repeat(times)).join("");
  objects[3] = String(objects[3]).replace("/Parent", `/Annots[${annotations}]/Parent`);
  objects[0] = String(objects[0]).replace("/Catalog", `/Catalog/AcroForm<</Fields[${annotations}]>>`);
  const parts = fields.flatMap(([field, drawing], index) => [
    `<</Type/Annot/Subtype/Widget/T(f${index})/Rect[72 ${600 - 40 * index} 372 ${630 - 40 * index}]/AP<</N ${first + 2 * index + 1} 0 R>>${field}>>`,
    String(stream(Buffer.from(drawing), "/Type/XObject/Subtype/Form/BBox[0 0 300 30]/Resources 3 0 R")),
  ]);
  return writePdf([...objects, ...parts]);
};

const drawn = (text: string): string => show(2, 10, 10, text);

test("a signature is read as displayed, at its place", async () => {
  const { text, warnings } = await readWithWarnings(
    pageWith([
      ["/FT/Sig", drawn("Signed by Ada Lovelace on 2026-03-02")],
      ["/FT/Sig/F 2", drawn("Hidden signature")],
      ["/FT/Tx/V(Typed)", drawn("Typed")],
    ]),
  );
  expect(text).toBe(
    "The undersigned agree to the terms of this contract.\n\nSigned by Ada Lovelace on 2026-03-02\n\nTyped",
  );
  expect(warnings).toEqual([]);
});

test("a field value that is only drawn is read", async () => {
  const { text } = await readWithWarnings(pageWith([["/FT/Tx/DA(/Helv 10 Tf 0 g)", drawn("1,234.50")]]));
  expect(text).toContain("1,234.50");
});

test("a choice is read as displayed", async () => {
  const options = "/FT/Ch/Ff 131072/Opt[[(r)(Red)][(g)(Green)]]";
  const { text } = await readWithWarnings(
    pageWith([
      [`${options}/V(g)`, ""],
      ["/FT/Ch/Ff 393216/Opt[(Red)]/V(Other)", ""],
    ]),
  );
  expect(text).toMatch(/Green\n\nOther$/);
});

test("captions of buttons are read as displayed, but hidden buttons are not", async () => {
  const { text } = await readWithWarnings(
    pageWith([
      ["/FT/Btn/Ff 65536/A<</S/ResetForm>>", drawn("Clear the form")],
      ["/FT/Btn/Ff 65536/F 2", drawn("Secret")],
    ]),
  );
  expect(text).toBe("The undersigned agree to the terms of this contract.\n\nClear the form");
});

test("a list without a selection is reported, but a drop-down list is not", async () => {
  const options = "/FT/Ch/Opt[(Red)(Green)]";
  expect((await readWithWarnings(pageWith([[`${options}/V(Red)`, drawn("Red")]]))).warnings).toEqual([]);
  expect((await readWithWarnings(pageWith([[`${options}/Ff 131072`, drawn("Red")]]))).warnings).toEqual([]);
  expect((await readWithWarnings(pageWith([[options, drawn("Red")]]))).warnings).toEqual([
    { code: "form_fields_left_out", pages: [1] },
  ]);
});

describe("a page with more annotations than the limit", () => {
  const many = pageWith([["/FT/Tx/F 2/V(hidden)", ""]], 5_002);

  test("reports them", async () => {
    expect((await readWithWarnings(many)).warnings).toEqual([{ code: "pages_cut", pages: [1] }]);
  });

  test.each([false, true])("gets only the first of them parsed; with decoders of images: %s", async (images) => {
    const pdf = await openPdf(many, { images });
    const page = await pdf.getPage(1);
    expect(await page.getAnnotations()).toHaveLength(5_001);
    await pdf.loadingTask.destroy();
  });

  test("gets its text read without annotations if the file has used up its limit", async () => {
    for (const budget of [new AnnotationBudget({ annotations: 0 }), new AnnotationBudget({ ms: 0 })]) {
      const pdf = await openPdf(pageWith([["/FT/Tx/V(Typed)", drawn("Typed")]]));
      const page = await readPage(await pdf.getPage(1), {
        fonts: new FontStyles(),
        isTextOnly: false,
        tagged: true,
        budget,
        layers: { isVisible: () => true, exist: false },
      });
      expect(JSON.stringify(page)).toContain("The undersigned agree");
      expect(page).toMatchObject({ isCut: true });
      await pdf.loadingTask.destroy();
    }
  });
});
